//! Histograms of the binary exponents, with bars that fit the terminal.

use lanecast_files::Stats;

use super::values::Named;
use crate::text::shown;

/// The most bars of a histogram; with more exponents, neighbours share a bar.
const MOST_BARS: usize = 32;
/// The width if neither a terminal nor the environment gives one.
const WIDTH: usize = 80;
/// The least width for the longest bar.
const LEAST_WIDTH: usize = 8;

/// The histograms of all tensors that have statistics.
pub fn draw_all(named: &[Named<'_>], stats: &[Option<Stats>]) -> String {
    let (width, blocks) = (width(), is_unicode());
    let mut out = String::new();
    for ((name, _), stats) in named.iter().zip(stats) {
        let Some(stats) = stats else { continue };
        out.push_str(&format!("\n{}: binary exponents\n", shown(name)));
        out.push_str(&draw(&stats.exponents, width, blocks));
    }
    out
}

/// The bars of `exponents`, which are sorted, on lines of at most `width` characters.
fn draw(exponents: &[(i32, u64)], width: usize, blocks: bool) -> String {
    let (Some((low, _)), Some((high, _))) = (exponents.first(), exponents.last()) else {
        return "no finite value other than zero\n".to_owned();
    };
    let range = (high - low + 1) as usize;
    let step = range.div_ceil(MOST_BARS);
    let mut counts = vec![0_u64; range.div_ceil(step)];
    for (exponent, n) in exponents {
        counts[(exponent - low) as usize / step] += n;
    }
    let bars: Vec<(String, u64)> = counts
        .into_iter()
        .enumerate()
        .map(|(i, n)| {
            let first = low + (i * step) as i32;
            let last = (first + step as i32 - 1).min(*high);
            let label = if first == last { format!("2^{first}") } else { format!("2^{first}..2^{last}") };
            (label, n)
        })
        .collect();
    let label_width = bars.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let most = bars.iter().map(|(_, n)| *n).max().unwrap_or(1).max(1);
    let count_width = most.to_string().len();
    let room = width.saturating_sub(label_width + count_width + 4).max(LEAST_WIDTH);
    let line = |(label, n): &(String, u64)| {
        let bar = bar(*n, most, room, blocks);
        format!("{label:>label_width$}  {n:>count_width$}  {bar}").trim_end().to_owned() + "\n"
    };
    bars.iter().map(line).collect()
}

/// A bar for `n`, where `most` has `room` characters. A nonzero `n` is always visible.
fn bar(n: u64, most: u64, room: usize, blocks: bool) -> String {
    let part = |units: usize| {
        let exact = (u128::from(n) * units as u128).div_ceil(u128::from(most));
        exact as usize
    };
    if !blocks {
        return "#".repeat(part(room));
    }
    let eighths = part(room * 8);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

fn width() -> usize {
    if let Some((terminal_size::Width(columns), _)) = terminal_size::terminal_size_of(std::io::stdout()) {
        return usize::from(columns).max(1);
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.filter(|columns| *columns > 0).unwrap_or(WIDTH)
}

/// Whether the locale can show the block characters of the bars.
fn is_unicode() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    cfg!(windows) || locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fit_and_show_everything_that_is_there() {
        let text = draw(&[(-3, 1), (-1, 8), (0, 4)], 30, false);
        assert_eq!(text, "2^-3  1  ###\n2^-2  0\n2^-1  8  #####################\n 2^0  4  ###########\n");
        let text = draw(&[(-3, 1), (0, 16)], 30, true);
        assert_eq!(text.lines().next(), Some("2^-3   1  █▎"));
        let wide: Vec<(i32, u64)> =
            (-1074..1024).map(|e: i32| (e, 1 + (e.unsigned_abs() as u64) % 7)).collect();
        for width in [20, 40, 80, 200] {
            let text = draw(&wide, width, true);
            assert!(text.lines().count() <= MOST_BARS, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width.max(40)), "{text}");
        }
        assert_eq!(draw(&[], 80, true), "no finite value other than zero\n");
        assert_eq!(bar(1, u64::MAX, 20, false), "#");
        assert_eq!(bar(u64::MAX, u64::MAX, 20, true).chars().count(), 20);
    }
}
