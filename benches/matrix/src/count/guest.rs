//! The program under emulation: runs the casts between marks and says which ones they were.
//!
//! It has one thread, it takes all memory before the first mark, and it does not print between two marks; plain casts
//! do not allocate either.

use super::{CALL, Count, Counting, counted, mark::between_marks, scaled};
use crate::{
    cells::{self, Cast},
    classes,
    inputs::{self, Range},
    machine::Machine,
    pool::{PAGE, Pool},
    results::Results,
    run::{self, Selection},
};
use lanecast::{CastPlan, Tier};
use std::{fs, hint::black_box};

/// Runs the selected casts, plain ones of these lengths and of a small call. Before the first one an empty function is counted, then every cast three times. Instructions are
/// zero in what it returns: only the plugin knows them.
///
/// # Errors
///
/// If a tier cannot run here, a plan cannot be made, or an answer differs from the scalar tier's.
pub fn run(selection: &Selection, lengths: [usize; 2]) -> Result<Results, String> {
    let mut tiers = selection.tiers.clone();
    if tiers.is_empty() {
        tiers = Tier::ALL.iter().copied().filter(|tier| tier.is_available()).collect();
    }
    if let Some(tier) = tiers.iter().find(|tier| !tier.is_available()) {
        return Err(format!("{tier}: {}", tier.status()));
    }
    let mut pool = Pool::new(1);
    let mut made: Option<(cells::Cast, Range, Vec<u8>)> = None;
    between_marks(&mut || {});
    // First, since the tables that plans share grow with every pair, and scaled casts look some up.
    let mut counts = scaled::run(selection, &tiers, &mut pool)?;
    for cast in cells::every().into_iter().filter(|cast| selection.has(cast)) {
        let range = Range::new(cast.from.dtype(), cast.to.dtype(), selection.inputs);
        let source = match made.take() {
            Some((of, with, source)) if of.from == cast.from && with == range => source,
            _ => inputs::beginning(cast.from, range, lengths[1]),
        };
        let expected = run::expected(&cast, &source, lengths[1])?;
        for &tier in &tiers {
            count(&cast, tier, pool.bytes(), (&source, &expected), lengths)?;
            counts.push(Count {
                from: cells::label(cast.from),
                to: cells::label(cast.to),
                mode: cast.mode,
                tier: tier.name().into(),
                class: classes::of(&cast).name.into(),
                instructions_per_element: 0.0,
                instructions_of_call: 0,
            });
        }
        made = Some((cast, range, source));
    }
    let counting = Counting { c_library: c_library(), elements: lengths, call: CALL, ..Counting::default() };
    Ok(Results {
        machine: Machine::detect(),
        inputs: selection.inputs,
        counting: Some(counting),
        counts,
        ..Results::default()
    })
}

/// Runs one cast at all counted lengths.
fn count(
    cast: &Cast,
    tier: Tier,
    pool: &mut [u8],
    (source, expected): (&[u8], &[u8]),
    lengths: [usize; 2],
) -> Result<(), String> {
    let failed = |error: lanecast::CastError| format!("{cast} on {tier}: {error}");
    let plan = CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), tier).map_err(failed)?;
    let (src, dst) = pool.split_at_mut(source.len().next_multiple_of(PAGE));
    src[..source.len()].copy_from_slice(source);
    for n in counted(lengths) {
        let [read, written] = [cast.from, cast.to].map(|buffer| buffer.byte_len(n).unwrap_or_default());
        let (src, dst) = (&src[..read], &mut dst[..written]);
        dst.fill(0xEE);
        let mut done = Ok(());
        between_marks(&mut || {
            done = lanecast_call::run(black_box(&plan), black_box(src), black_box(&mut *dst), black_box(n));
        });
        done.map_err(failed)?;
        if !run::answer_is(expected, dst, cast.to, n) {
            return Err(format!("{cast} on {tier} at {n} elements differs from the scalar tier"));
        }
    }
    Ok(())
}

/// The C library's name and version, which it says of itself.
fn c_library() -> String {
    const BEFORE: &str = "stable release version ";
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let version =
        paths.filter(|path| path.contains("/libc.so") || path.contains("/libc-")).find_map(|path| {
            let bytes = fs::read(path).ok()?;
            let start =
                bytes.windows(BEFORE.len()).position(|window| window == BEFORE.as_bytes())? + BEFORE.len();
            let version: Vec<u8> =
                bytes[start..].iter().copied().take_while(|c| c.is_ascii_digit() || *c == b'.').collect();
            Some(String::from_utf8_lossy(&version).trim_end_matches('.').to_owned())
        });
    version.map_or("unknown C library".into(), |version| format!("glibc {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::{LENGTHS, SHORTER};

    #[test]
    fn casts_run_without_an_emulator() {
        let selection =
            Selection { pairs: vec![(Some(lanecast::DType::Int4), None)], ..Selection::default() };
        let results = run(&selection, SHORTER).expect("the casts of int4");
        let tiers = Tier::ALL.iter().filter(|tier| tier.is_available()).count();
        let casts = cells::every().into_iter().filter(|cast| selection.has(cast)).count();
        assert_eq!(results.counts.len(), casts * tiers);
        assert!(results.counts.iter().any(|count| count.from == "int4/packed"));
    }

    #[test]
    fn scaled_casts_run_without_an_emulator() {
        let selection = Selection { scheme: Some("fp4".into()), ..Selection::default() };
        let results = run(&selection, LENGTHS).expect("the casts of float4_e2m1fn");
        let tiers = Tier::ALL.iter().filter(|tier| tier.is_available()).count();
        // mxfp4 and nvfp4, both ways, of float32 and bfloat16.
        assert_eq!(results.counts.len(), 8 * tiers);
        assert!(results.counts.iter().any(|count| (&*count.from, &*count.to) == ("nvfp4", "bfloat16")));
    }
}
