//! The rooms of `kernels/src` stand on floors, and a file imports from its own floor or a lower one; nor do files import each other in a
//! circle. `docs/internals.md` draws the rooms.
//!
//! An import is a path: of a `use`, of an expression or a type, or in a macro; and the name of a macro that a module above has defined. It
//! leads to the file that defines the name, wherever that is exported again. A glob leads to the file of its module. Tests may import
//! everything.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The rooms, the lowest first.
pub const ROOMS: [&str; 8] = ["dtype", "exact", "format", "vector", "arch", "table", "route", "drive"];

/// A word or a sign, and its line.
type Token = (String, usize);

/// Names from the root of the crate on.
type Names = Vec<String>;

/// Splits a source without its comments, texts and characters. `::` is one sign, and `$crate` one word.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut i, mut line) = (Vec::new(), 0, 1);
    while i < chars.len() {
        let start = i;
        let raw = at(i) == 'r'
            && (at(i + 1) == '"' || (at(i + 1) == '#' && (at(i + 2) == '"' || at(i + 2) == '#')));
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            'r' if raw => {
                i += 1;
                let mut hashes = 0;
                while at(i) == '#' {
                    (i, hashes) = (i + 1, hashes + 1);
                }
                i += 1;
                while i < chars.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                    i += 1;
                }
                i += 1 + hashes;
            }
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += 1 + usize::from(at(i) == '\\');
                }
                i += 1;
            }
            // A character, not a lifetime.
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => {
                i += 2;
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            c if word(c) || (c == '$' && word(at(i + 1))) => {
                i += 1;
                while word(at(i)) {
                    i += 1;
                }
                tokens.push((chars[start..i].iter().collect(), line));
            }
            ':' if at(i + 1) == ':' => {
                tokens.push(("::".to_owned(), line));
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push((c.to_string(), line));
                }
                i += 1;
            }
        }
        line += chars[start..i.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_') || (token.starts_with('$') && token.len() > 1)
}

/// A path as it is written, and where: its line, and how many modules of the file are around it.
struct Written {
    names: Names,
    line: usize,
    depth: usize,
}

/// What a file says of its imports.
#[derive(Default)]
struct Module {
    /// By the name that a `use` binds.
    uses: BTreeMap<String, Names>,
    paths: Vec<Written>,
    defined_macros: BTreeSet<String>,
    called_macros: Vec<(String, usize)>,
}

/// The tree of a `use` from token `i` on: calls `leaf` with each of its paths, and the name that it binds. Returns the token behind it.
fn tree(
    tokens: &[Token],
    mut i: usize,
    prefix: &[String],
    leaf: &mut impl FnMut(Names, String, usize),
) -> usize {
    let mut names = prefix.to_vec();
    loop {
        let (token, line) = &tokens[i];
        match token.as_str() {
            "{" => {
                i += 1;
                while tokens[i].0 != "}" {
                    i = tree(tokens, i, &names, leaf);
                    i += usize::from(tokens[i].0 == ",");
                }
                return i + 1;
            }
            "::" => i += 1,
            "self" if !names.is_empty() => i += 1,
            "as" => {
                let bound = tokens[i + 1].0.clone();
                leaf(names, bound, *line);
                return i + 2;
            }
            "," | "}" | ";" => {
                let bound = names.last().expect("a path has a name").clone();
                leaf(names, bound, *line);
                return i;
            }
            _ => {
                names.push(token.clone());
                i += 1;
            }
        }
    }
}

/// The token behind the bracket that closes that of token `i`.
fn behind(tokens: &[Token], mut i: usize) -> usize {
    let mut depth = 0;
    loop {
        depth += usize::from(tokens[i].0 == "{");
        depth -= usize::from(tokens[i].0 == "}");
        i += 1;
        if depth == 0 {
            return i;
        }
    }
}

fn read(text: &str) -> Module {
    let tokens = tokens(text);
    let is = |i: usize, token: &str| tokens.get(i).is_some_and(|t| t.0 == token);
    let (mut module, mut ends, mut i) = (Module::default(), Vec::new(), 0);
    while i < tokens.len() {
        ends.retain(|end| i < *end);
        let (token, line) = (&tokens[i].0, tokens[i].1);
        if token == "mod" && is(i + 2, "{") {
            let end = behind(&tokens, i + 2);
            if is(i + 1, "tests") {
                i = end;
            } else {
                ends.push(end);
                i += 3;
            }
        } else if token == "use" && !is(i + 1, "<") {
            let depth = ends.len();
            i = tree(&tokens, i + 1, &[], &mut |names, bound, line| {
                if depth == 0 && bound != "*" {
                    module.uses.insert(bound, names.clone());
                }
                module.paths.push(Written { names, line, depth });
            });
        } else if token == "macro_rules" && is(i + 1, "!") {
            module.defined_macros.insert(tokens[i + 2].0.clone());
            i += 3;
        } else if is_word(token) {
            let restricts = i > 1 && is(i - 1, "in") && is(i - 2, "(");
            let mut names = vec![token.clone()];
            while is(i + 1, "::") && tokens.get(i + 2).is_some_and(|t| is_word(&t.0)) {
                names.push(tokens[i + 2].0.clone());
                i += 2;
            }
            if names.len() == 1 && is(i + 1, "!") {
                module.called_macros.push((names.remove(0), line));
            } else if names.len() > 1 && !restricts {
                module.paths.push(Written { names, line, depth: ends.len() });
            }
            i += 1;
        } else {
            i += 1;
        }
    }
    module
}

/// The sources by their names below `kernels/src`, without tests.
pub struct House {
    modules: BTreeMap<Names, (String, Module)>,
}

impl House {
    fn new<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> House {
        let modules = sources.into_iter().map(|(file, text)| {
            let stem = file.strip_suffix(".rs").expect("a source");
            let mut names: Names = stem.split('/').map(str::to_owned).collect();
            if names.last().is_some_and(|name| name == "mod" || name == "lib") {
                names.pop();
            }
            (names, (file.to_owned(), read(text)))
        });
        House { modules: modules.collect() }
    }

    /// A written path from the root of the crate on; `None` if it leads out of it.
    fn absolute(&self, of: &[String], names: &[String], depth: usize) -> Option<Names> {
        let child = |name: &String| self.modules.contains_key(&[of, std::slice::from_ref(name)].concat());
        match names[0].as_str() {
            "crate" | "$crate" => Some(names[1..].to_vec()),
            "self" => Some([of, &names[1..]].concat()),
            "super" => {
                let up = names.iter().take_while(|name| *name == "super").count();
                // Modules of the file are around the path.
                let above = of.len().checked_sub(up.saturating_sub(depth))?;
                Some([&of[..above], &names[up..]].concat())
            }
            _ if child(&names[0]) => Some([of, names].concat()),
            _ => {
                let (_, module) = self.modules.get(of)?;
                let used = module.uses.get(&names[0]).filter(|used| used[0] != names[0])?;
                self.absolute(of, &[used, &names[1..]].concat(), 0)
            }
        }
    }

    /// The module that defines what a path from the root leads to.
    fn definition(&self, path: &[String], steps: usize) -> Names {
        let mut end = path.len();
        while !self.modules.contains_key(&path[..end]) {
            end -= 1;
        }
        let (module, rest) = path.split_at(end);
        if let Some(used) = rest.first().and_then(|name| self.modules[module].1.uses.get(name))
            && steps < 20
            && used.len() > 1
            && let Some(path) = self.absolute(module, &[used, &rest[1..]].concat(), 0)
        {
            return self.definition(&path, steps + 1);
        }
        module.to_vec()
    }

    /// The files that each file imports from, with the line of the first import.
    fn arrows(&self) -> BTreeMap<&str, BTreeMap<&str, usize>> {
        let mut arrows = BTreeMap::new();
        for (of, (file, module)) in &self.modules {
            let to: &mut BTreeMap<&str, usize> = arrows.entry(file.as_str()).or_default();
            let mut add = |names: &[String], line| {
                let target = self.modules[names].0.as_str();
                if target != file {
                    to.entry(target).or_insert(line);
                }
            };
            for Written { names, line, depth } in &module.paths {
                // What a macro for other crates names is the interface of this one.
                let room = names.get(1).is_some_and(|name| ROOMS.contains(&name.as_str()));
                if (names[0] != "$crate" || room)
                    && let Some(path) = self.absolute(of, names, *depth)
                {
                    add(&self.definition(&path, 0), *line);
                }
            }
            for (name, line) in &module.called_macros {
                if module.defined_macros.contains(name) || module.uses.contains_key(name) {
                    continue;
                }
                let above = (0..of.len()).rev().map(|n| &of[..n]);
                let defines = |names: &&[String]| {
                    self.modules.get(*names).is_some_and(|(_, module)| module.defined_macros.contains(name))
                };
                if let Some(names) = above.into_iter().find(defines) {
                    add(names, *line);
                }
            }
        }
        arrows
    }

    /// The pairs of different floors of which the first imports from the second.
    pub fn arrows_of_rooms(&self) -> BTreeSet<(usize, usize)> {
        let all = self
            .arrows()
            .into_iter()
            .flat_map(|(file, to)| to.into_keys().map(move |to| (floor(file), floor(to))));
        all.filter(|(from, to)| from != to && *from < ROOMS.len()).collect()
    }
}

/// The floor of a room.
pub fn room(name: &str) -> Option<usize> {
    ROOMS.iter().position(|room| *room == name)
}

/// The floor of a file; `lib.rs` stands on top of all.
fn floor(file: &str) -> usize {
    file.split('/').next().and_then(room).unwrap_or(ROOMS.len())
}

/// A path of arrows from a file to one that is on the way already.
fn circle<'a>(
    arrows: &BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
    way: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<String> {
    let file = *way.last().expect("it begins somewhere");
    for (to, line) in &arrows[file] {
        if let Some(first) = way.iter().position(|on| on == to) {
            return Some(format!("{} -> {to}: the last at line {line}", way[first..].join(" -> ")));
        }
        if !done.contains(to) {
            way.push(to);
            let found = circle(arrows, way, done);
            way.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    done.insert(file);
    None
}

/// What breaks the law.
fn faults(house: &House) -> Vec<String> {
    let arrows = house.arrows();
    let mut faults: Vec<String> = arrows
        .iter()
        .flat_map(|(file, to)| to.iter().map(move |(to, line)| (file, to, line)))
        .filter(|(file, to, _)| floor(file) < floor(to))
        .map(|(file, to, line)| format!("{file}:{line} imports from {to}, which stands higher"))
        .collect();
    let mut done = BTreeSet::new();
    for file in arrows.keys() {
        if let Some(circle) = circle(&arrows, &mut vec![file], &mut done) {
            faults.push(format!("a circle: {circle}"));
            break;
        }
    }
    faults
}

/// Adds the sources of a folder without tests.
fn walk(folder: &Path, name: &str, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().and_then(|file| file.to_str()).expect("a UTF-8 name");
        let name = if name.is_empty() { file.to_owned() } else { format!("{name}/{file}") };
        if path.is_dir() && file != "tests" {
            walk(&path, &name, sources);
        } else if file.ends_with(".rs") && file != "tests.rs" {
            sources.push((name, fs::read_to_string(&path).expect("a source is readable")));
        }
    }
}

/// What `kernels/src` has.
pub fn sources_of_kernels() -> House {
    let mut sources = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/src"), "", &mut sources);
    House::new(sources.iter().map(|(file, text)| (file.as_str(), text.as_str())))
}

#[test]
fn import_from_lower_floors_without_circles() {
    let house = sources_of_kernels();
    let files = house.modules.values().map(|(file, _)| file);
    let in_no_room: Vec<&String> = files.filter(|file| floor(file) == ROOMS.len()).collect();
    assert_eq!(in_no_room, ["lib.rs"], "every file but `lib.rs` is in a room");
    let (arrows, files) = (house.arrows().values().map(BTreeMap::len).sum::<usize>(), house.modules.len());
    assert!(arrows > files, "{arrows} imports were found in {files} files");
    let faults = faults(&house);
    assert!(faults.is_empty(), "kernels/src:\n{}", faults.join("\n"));
}

/// Every form of an import is seen.
#[test]
fn finds_what_breaks_the_law() {
    let facade = ("drive/mod.rs", "mod run;\npub(crate) use run::{Guard as Kept, guard};\n");
    let run = ("drive/run.rs", "pub struct Guard;\npub fn guard() {}\n");
    let up = |text| {
        let house =
            House::new([("lib.rs", ""), ("dtype/mod.rs", "mod list;"), ("dtype/list.rs", text), facade, run]);
        faults(&house)
    };
    let fault = |line, to| vec![format!("dtype/list.rs:{line} imports from {to}, which stands higher")];
    assert_eq!(up("\nuse crate::{dtype, drive::Kept};"), fault(2, "drive/run.rs"));
    assert_eq!(
        up("/* \" */ const A: &str = \"\\\"\n\"; fn f() { crate::drive::guard() }"),
        fault(2, "drive/run.rs")
    );
    assert_eq!(up("macro_rules! m { () => { $crate::drive::other() } }"), fault(1, "drive/mod.rs"));
    assert_eq!(
        up("use super::super::drive;\nfn f() { drive::guard() }"),
        [fault(1, "drive/mod.rs"), fault(2, "drive/run.rs")].concat()
    );
    assert_eq!(up("mod inner { use super::super::super::drive::*; }"), fault(1, "drive/mod.rs"));
    assert_eq!(up("fn f(_: crate::Public) {}"), fault(1, "lib.rs"));
    assert!(up("// crate::drive::Kept\nuse core::fmt; pub(in crate::drive) fn f() {}").is_empty());
    assert!(up("mod tests { use crate::drive::Kept; }").is_empty());

    let beside = |list, codes| {
        let house = House::new([
            ("dtype/mod.rs", "mod codes; mod list; macro_rules! m { () => {} } use list::A;"),
            ("dtype/list.rs", list),
            ("dtype/codes.rs", codes),
        ]);
        faults(&house).pop()
    };
    assert!(
        beside("use super::codes::B; struct A;", "use super::A; struct B;").is_some(),
        "through the facade"
    );
    assert!(beside("use super::codes::B; struct A;", "struct B;").is_none());
    assert!(
        beside("m!(); struct A;", "").is_some(),
        "the facade imports `A`, whose file takes a macro from it"
    );
}
