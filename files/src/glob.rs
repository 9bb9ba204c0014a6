//! Shell patterns for names: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, and `\` to escape any of these.
//!
//! `*` and `?` match every character, including `.` and `/`; `**/` also matches the empty string. Braces are expanded: a pattern is
//! a list of alternatives, and each alternative is a list of [`Token`]s. (The crate `globset` brings a whole regular-expression
//! engine, which takes a sixth of the build time; in `fast-glob`, `*` stops at `/` and malformed patterns are no error.)

/// The limit on alternatives, more than anybody writes.
const MAX_ALTERNATIVES: usize = 1 << 12;
/// The limit on nested braces.
const MAX_DEPTH: usize = 100;

/// A pattern.
#[derive(Clone, Debug)]
struct Glob(Vec<Vec<Token>>);

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Run,
    /// A character in the class, or not in it.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Token {
    fn is(&self, c: char) -> bool {
        match self {
            Token::Char(own) => *own == c,
            Token::Any | Token::Run => true,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// Expands a pattern from left to right: it keeps all beginnings found so far and appends what follows to each.
struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    /// The previous character, for `**/`.
    before: Option<char>,
}

impl Glob {
    /// The pattern that `text` describes, or what is wrong with it.
    fn new(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text.chars().peekable(), before: None };
        let alternatives = parser.sequence(0)?;
        Ok(Self(alternatives))
    }

    /// Whether the whole of `name` matches.
    fn is_match(&self, name: &str) -> bool {
        self.0.iter().any(|tokens| matches(tokens, name))
    }
}

/// Several patterns, each with its text.
#[derive(Clone, Debug)]
pub struct Globs(Vec<(String, Glob)>);

impl Globs {
    /// The patterns that `texts` describe.
    ///
    /// # Errors
    ///
    /// A message that says which one is malformed, and why.
    pub fn new(texts: &[String]) -> Result<Self, String> {
        let parse = |text: &String| match Glob::new(text) {
            Ok(glob) => Ok((text.clone(), glob)),
            Err(wrong) => Err(format!("{text:?}: {wrong}")),
        };
        texts.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the whole of `name` matches one of them.
    pub fn is_match(&self, name: &str) -> bool {
        self.0.iter().any(|(_, glob)| glob.is_match(name))
    }

    /// The patterns that match none of `names`.
    pub fn unmatched<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> impl Iterator<Item = &str> {
        let idle = move |(_, glob): &&(String, Glob)| !names.clone().any(|name| glob.is_match(name));
        self.0.iter().filter(idle).map(|(text, _)| text.as_str())
    }
}

impl Parser<'_> {
    /// Parses up to the end of the pattern or, within braces, up to a `,` or `}`.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, String> {
        if depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested braces"));
        }
        let mut found = vec![Vec::new()];
        self.before = None;
        while let Some(&c) = self.rest.peek() {
            if depth > 0 && matches!(c, ',' | '}') {
                return Ok(found);
            }
            self.rest.next();
            let before = self.before.replace(c);
            let more = match c {
                '*' => self.run(before),
                '?' => vec![vec![Token::Any]],
                '[' => vec![vec![self.class()?]],
                '{' => self.braces(depth)?,
                '}' => return Err("a } without its {".into()),
                '\\' => {
                    vec![vec![Token::Char(self.rest.next().ok_or("no character follows the \\ at the end")?)]]
                }
                c => vec![vec![Token::Char(c)]],
            };
            if found.len() * more.len() > MAX_ALTERNATIVES {
                return Err(format!("its braces expand to more than {MAX_ALTERNATIVES} patterns"));
            }
            match &more[..] {
                [one] => found.iter_mut().for_each(|tokens| tokens.extend_from_slice(one)),
                _ => {
                    let joined = |head: &Vec<Token>| {
                        more.iter().map(|tail| [&head[..], tail].concat()).collect::<Vec<_>>()
                    };
                    found = found.iter().flat_map(joined).collect();
                }
            }
        }
        if depth > 0 { Err("a { without its }".into()) } else { Ok(found) }
    }

    /// The token of a `*` that was just read.
    fn run(&mut self, before: Option<char>) -> Vec<Vec<Token>> {
        let mut stars = 1;
        while self.rest.next_if_eq(&'*').is_some() {
            stars += 1;
        }
        if stars == 2 && matches!(before, None | Some('/')) && self.rest.next_if_eq(&'/').is_some() {
            self.before = Some('/');
            return vec![Vec::new(), vec![Token::Run, Token::Char('/')]];
        }
        vec![vec![Token::Run]]
    }

    /// The alternatives after a `{`.
    fn braces(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, String> {
        let mut found = Vec::new();
        loop {
            found.extend(self.sequence(depth + 1)?);
            match self.rest.next() {
                Some(',') => {}
                _ => {
                    self.before = Some('}');
                    return Ok(found);
                }
            }
        }
    }

    /// The class after a `[`.
    fn class(&mut self) -> Result<Token, String> {
        let negated = self.rest.next_if(|c| matches!(c, '!' | '^')).is_some();
        let mut ranges = Vec::new();
        loop {
            let low = self.rest.next().ok_or("a [ without its ]")?;
            if low == ']' && !ranges.is_empty() {
                return Ok(Token::Class { negated, ranges });
            }
            let mut high = low;
            let mut ahead = self.rest.clone();
            // A `-` at the end is a literal.
            if ahead.next() == Some('-') && ahead.peek().is_some_and(|c| *c != ']') {
                self.rest.next();
                high = self.rest.next().ok_or("a [ without its ]")?;
            }
            if low > high {
                return Err(format!("the range {low}-{high} is empty"));
            }
            ranges.push((low, high));
        }
    }
}

/// Whether `tokens` match the whole of `name`. After a mismatch the last `*` takes one more character; backtracking to an earlier
/// `*` could not succeed where this fails.
fn matches(tokens: &[Token], name: &str) -> bool {
    let (mut token, mut rest) = (0, name.chars());
    let mut retry: Option<(usize, std::str::Chars)> = None;
    loop {
        if tokens.get(token) == Some(&Token::Run) {
            token += 1;
            retry = Some((token, rest.clone()));
            continue;
        }
        let mut ahead = rest.clone();
        match (tokens.get(token), ahead.next()) {
            (None, None) => return true,
            (Some(wanted), Some(c)) if wanted.is(c) => {
                token += 1;
                rest = ahead;
                continue;
            }
            (Some(_), None) => return false,
            _ => {}
        }
        let Some((after, from)) = &mut retry else { return false };
        from.next();
        (token, rest) = (*after, from.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts of up to `length` of these characters.
    fn texts(characters: &[char], length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = 0..1;
        for _ in 0..length {
            let longer: Vec<String> = all[last]
                .iter()
                .flat_map(|text| characters.iter().map(move |c| format!("{text}{c}")))
                .collect();
            last = all.len()..all.len() + longer.len();
            all.extend(longer);
        }
        all
    }

    #[test]
    fn every_short_pattern_is_that_of_globset() {
        let names = texts(&['a', '/', 'b'], 4);
        let (mut patterns, mut sound) = (0, 0);
        let mut short = texts(&['a', '/', '*', '?', '[', ']', '!', '{', '}', ','], 4);
        short.extend(
            [
                "**/a/**/b",
                "a/**/b",
                "{a,**/b}",
                "[!a-b]*",
                "[]a]",
                "[a-]?",
                "\\*a",
                "{a,{b,a/}*}b",
                "**/**/a",
            ]
            .map(String::from),
        );
        for pattern in &short {
            // It leaves out empty alternatives, which are read as empty here, and takes `**/` for `**`.
            if pattern == "**/" || ["{}", "{,", ",}", ",,"].iter().any(|empty| pattern.contains(empty)) {
                continue;
            }
            let theirs = globset::GlobBuilder::new(pattern).backslash_escape(true).build();
            let ours = Glob::new(pattern);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{pattern}: {ours:?}, {theirs:?}");
            patterns += 1;
            let (Ok(ours), Ok(theirs)) = (ours, theirs.map(|glob| glob.compile_matcher())) else { continue };
            sound += 1;
            for name in &names {
                assert_eq!(ours.is_match(name), theirs.is_match(name), "{pattern} on {name:?}");
            }
        }
        assert!(patterns > 9000 && sound > 3000, "{sound} of {patterns}");
    }

    #[test]
    fn patterns_are_bounded() {
        let name = "a".repeat(2000);
        assert!(!Glob::new(&"*a".repeat(30)).unwrap().is_match(&(name.clone() + "b")));
        assert!(Glob::new(&"*a".repeat(30)).unwrap().is_match(&name));
        assert!(Glob::new(&"{a,b}".repeat(12)).unwrap().is_match("abababababab"));
        assert!(Glob::new(&"{a,b}".repeat(13)).unwrap_err().contains("more than 4096"));
        assert!(Glob::new(&"{".repeat(1 << 20)).unwrap_err().contains("nested braces"));
    }
}
