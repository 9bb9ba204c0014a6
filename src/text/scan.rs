//! The grammar of section 8.1, read once.
//!
//! *Method.* Eight bytes are examined together in a `u64`: one addition marks the bytes that are not digits, a shift moves the
//! digits before the first such byte to the end of the word, and three multiplications convert them to a number. So a run of
//! digits costs one step per eight digits, and no branch depends on the length of the rest.

/// A finite number as it is written: `+-(digits + r) * 10^exponent`, with `0 <= r < 1`.
#[derive(Clone, Copy)]
pub(super) struct Decimal<'a> {
    /// Whether there is a minus sign.
    pub negative: bool,
    /// All digits, or the first 19 from the first that is not 0.
    pub digits: u64,
    /// The power of ten of the last of `digits`.
    pub exponent: i64,
    /// Whether `r` is not 0: `digits` is followed by digits that are not all 0.
    pub more: bool,
    /// The digits before the point.
    whole: &'a [u8],
    /// The digits after the point.
    fraction: &'a [u8],
    /// The exponent in the text, limited to far above the length of any text.
    written: i64,
}

/// A consumer of a number. (Returning the number as a value, with all parts of a decimal, would go through memory.)
pub(super) trait Visitor: Copy {
    /// The outcome.
    type Out;
    /// Of a finite number.
    fn finite(self, decimal: &Decimal<'_>) -> Self::Out;
    /// Of an infinity.
    fn infinite(self, negative: bool) -> Self::Out;
    /// Of a NaN.
    fn nan(self, negative: bool) -> Self::Out;
}

impl Decimal<'_> {
    /// Whether the text is a plain integer of at most 19 digits, so that `digits` is its magnitude.
    pub fn is_plain(&self) -> bool {
        self.exponent == 0 && !self.more
    }

    /// The significant digits, 0 to 9, and the place of the point: `0.d1 d2 d3 ... * 10^point`.
    pub fn significant(&self) -> (impl Iterator<Item = u8>, i64) {
        let all = || self.whole.iter().chain(self.fraction).map(|byte| byte - b'0');
        let zeros = all().take_while(|&digit| digit == 0).count();
        (all().skip(zeros), self.whole.len() as i64 - zeros as i64 + self.written)
    }

    /// The first 19 significant digits, their exponent, and whether nonzero digits follow, for a number of more than 19 digits.
    #[cold]
    fn cut(&self) -> (u64, i64, bool) {
        let zeros = |part: &[u8]| part.iter().take_while(|&&byte| byte == b'0').count();
        let before = zeros(self.whole);
        let whole = &self.whole[before..];
        let fraction = if whole.is_empty() { &self.fraction[zeros(self.fraction)..] } else { self.fraction };
        let in_whole = whole.len().min(19);
        let in_fraction = fraction.len().min(19 - in_whole);
        let (whole, rest) = whole.split_at(in_whole);
        let (fraction, tail) = fraction.split_at(in_fraction);
        let digits =
            whole.iter().chain(fraction).fold(0, |number, byte| 10 * number + u64::from(byte - b'0'));
        // Integer digits that were left out raise the exponent; fraction digits that were taken lower it.
        let places = self.fraction.len() - tail.len();
        let exponent = self.written + if rest.is_empty() { -(places as i64) } else { rest.len() as i64 };
        (digits, exponent, rest.iter().chain(tail).any(|&byte| byte != b'0'))
    }
}

/// The white space of the grammar.
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The text without white space on either side.
#[inline(always)]
pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

/// Visits the number at the beginning of a text, and returns the result with the number of bytes read. There is no white space.
#[inline(always)]
pub(super) fn number<V: Visitor>(text: &[u8], visitor: V) -> Option<(V::Out, usize)> {
    let negative = matches!(text, [b'-', ..]);
    let start = usize::from(negative || matches!(text, [b'+', ..]));
    let words = Words::new(text);
    let mut digits = 0;
    let mut at = words.run(start, &mut digits);
    let whole = text.get(start..at)?;
    let mut fraction: &[u8] = &[];
    if text.get(at) == Some(&b'.') {
        let from = at + 1;
        at = words.run(from, &mut digits);
        fraction = text.get(from..at)?;
    }
    let count = whole.len() + fraction.len();
    if count == 0 {
        return word(text, start, negative, visitor);
    }
    let mut written = 0;
    if let Some(b'e' | b'E') = text.get(at) {
        // An `e` without digits is not part of the number.
        if let Some((exponent, end)) = exponent(text, at + 1) {
            (written, at) = (exponent, end);
        }
    }
    let exponent = written - fraction.len() as i64;
    let mut decimal = Decimal { negative, digits, exponent, more: false, whole, fraction, written };
    if count > 19 {
        (decimal.digits, decimal.exponent, decimal.more) = decimal.cut();
    }
    Some((visitor.finite(&decimal), at))
}

/// The signed digits of an exponent, and where they end.
#[inline]
fn exponent(text: &[u8], start: usize) -> Option<(i64, usize)> {
    let negative = text.get(start) == Some(&b'-');
    let start = start + usize::from(negative || text.get(start) == Some(&b'+'));
    let (mut value, mut at) = (0_i64, start);
    while let Some(byte @ b'0'..=b'9') = text.get(at) {
        // To compensate for a larger exponent with zeros, a text would have to be longer than memory.
        if value < 1 << 56 {
            value = 10 * value + i64::from(byte - b'0');
        }
        at += 1;
    }
    (at > start).then_some((if negative { -value } else { value }, at))
}

/// `inf`, `infinity`, `nan`.
#[cold]
fn word<V: Visitor>(text: &[u8], start: usize, negative: bool, visitor: V) -> Option<(V::Out, usize)> {
    let is = |word: &[u8]| text[start..].get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word));
    if is(b"infinity") {
        Some((visitor.infinite(negative), start + 8))
    } else if is(b"inf") {
        Some((visitor.infinite(negative), start + 3))
    } else if is(b"nan") {
        Some((visitor.nan(negative), start + 3))
    } else {
        None
    }
}

/// A text in words of eight bytes, the first in the lowest byte.
#[derive(Clone, Copy)]
struct Words<'a> {
    text: &'a [u8],
    /// The last eight bytes, or all of a shorter text.
    last: u64,
    /// Where `last` begins.
    from: usize,
}

impl<'a> Words<'a> {
    #[inline(always)]
    fn new(text: &'a [u8]) -> Self {
        let byte = |at: usize| u64::from(text[at]) << (8 * at);
        let (last, from) = if let Some(last) = text.last_chunk() {
            (u64::from_le_bytes(*last), text.len() - 8)
        } else if let (Some(low), Some(high)) = (text.first_chunk(), text.last_chunk()) {
            // Where the two overlap they are equal.
            let high = u64::from(u32::from_le_bytes(*high)) << (8 * (text.len() - 4));
            (u64::from(u32::from_le_bytes(*low)) | high, 0)
        } else if text.is_empty() {
            (0, 0)
        } else {
            (byte(0) | byte(text.len() / 2) | byte(text.len() - 1), 0)
        };
        Words { text, last, from }
    }

    /// The eight bytes from `at` on, with zeros after the end.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        if at < self.from
            && let Some(word) = self.text.get(at..).and_then(|text| text.first_chunk())
        {
            return u64::from_le_bytes(*word);
        }
        self.last.checked_shr(8 * (at - self.from) as u32).unwrap_or(0)
    }

    /// Appends the run of digits at `at` to a number (modulo `2^64`) and returns where it ends.
    #[inline(always)]
    fn run(&self, mut at: usize, number: &mut u64) -> usize {
        const POWERS: [u64; 16] =
            [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 0, 0, 0, 0, 0, 0, 0];
        loop {
            // Digits become 0 to 9, all other bytes more.
            let bytes = self.word(at) ^ 0x3030_3030_3030_3030;
            let others = (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080;
            let count = others.trailing_zeros() / 8;
            // In two steps, because the shift is by 64 if there are no digits.
            let half = 4 * (8 - count);
            let value = join((bytes << half) << half);
            *number = number.wrapping_mul(POWERS[count as usize & 15]).wrapping_add(value);
            at += count as usize;
            if count < 8 {
                return at;
            }
        }
    }
}

/// The number of eight decimal digits in the bytes of a word, the first in the lowest byte.
#[inline(always)]
fn join(digits: u64) -> u64 {
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & MASK).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & MASK).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}
