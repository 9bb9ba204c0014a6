//! The laws of casts, on random pairs, options, tiers, lengths and values: where a cast is cut, which call does it
//! and how many threads share it makes no difference, and order is kept.

use crate::oracle::value::Value;
use crate::support::{byte_len, check::Case, patterns, storages, store, tiers::tiers};
use crate::{oracle, support};
use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, E5M2Nan, E8M0Range, E8M0Round, Encoding, FloatRound,
    FnuzInf, IntOverflow, IntRound, Kind, NanToFinite, Saturate, Tier, Uninit, strided::Layout,
};
use proptest::prelude::*;
use std::{cmp::Ordering, mem::MaybeUninit};

/// An encoding.
fn buffer() -> impl Strategy<Value = Encoding> {
    let all: Vec<Encoding> = DType::ALL.iter().flat_map(|d| storages(*d)).collect();
    prop::sample::select(all)
}

/// Any options, those that do not apply included.
fn options() -> impl Strategy<Value = CastOptions> {
    let overflow = || prop::sample::select(vec![IntOverflow::Saturate, IntOverflow::Wrap]);
    let rounds =
        [IntRound::TowardZero, IntRound::NearestEven, IntRound::NearestAway, IntRound::Floor, IntRound::Ceil];
    let eight = (
        prop::sample::select(vec![Saturate::On, Saturate::Off, Saturate::FnOnly]),
        prop::sample::select(vec![E8M0Round::Up, E8M0Round::Down, E8M0Round::Nearest]),
        prop::sample::select(vec![E8M0Range::Exact, E8M0Range::Rounded, E8M0Range::Magnitude]),
        prop::sample::select(vec![E5M2Nan::Code7E, E5M2Nan::Code7F]),
        prop::sample::select(vec![NanToFinite::Zero, NanToFinite::Max]),
        prop::sample::select(vec![FnuzInf::Max, FnuzInf::Nan]),
    );
    let round = prop::sample::select(vec![
        FloatRound::NearestEven,
        FloatRound::NearestAway,
        FloatRound::TowardZero,
        FloatRound::Up,
        FloatRound::Down,
        FloatRound::ToOdd,
    ]);
    (eight, overflow(), overflow(), prop::sample::select(rounds.to_vec()), round).prop_map(
        |(
            (saturate, e8m0, e8m0_range, e5m2, fp4, fnuz),
            float_to_int,
            int_to_int,
            int_round,
            float_round,
        )| {
            CastOptions::RUST
                .with_saturate(saturate)
                .with_e8m0_round(e8m0)
                .with_e8m0_range(e8m0_range)
                .with_e5m2_nan(e5m2)
                .with_nan_to_finite(fp4)
                .with_fnuz_inf(fnuz)
                .with_float_to_int(float_to_int)
                .with_int_to_int(int_to_int)
                .with_int_round(int_round)
                .with_float_round(float_round)
        },
    )
}

/// A cast with its source.
#[derive(Clone, Debug)]
struct Job {
    from: Encoding,
    to: Encoding,
    options: CastOptions,
    tier: Tier,
    codes: Vec<u128>,
    src: Vec<u8>,
}

impl Job {
    fn plan(&self) -> CastPlan {
        Case { from: self.from, to: self.to, options: &self.options, tier: self.tier }.plan()
    }

    fn n(&self) -> usize {
        self.codes.len()
    }

    fn run(&self) -> Vec<u8> {
        let mut dst = vec![0xA5; byte_len(self.to, self.n())];
        self.plan()
            .run(Bytes::new(&self.src, self.n()), BytesMut::new(&mut dst, self.n()))
            .expect("the buffers fit");
        dst
    }
}

fn job() -> impl Strategy<Value = Job> {
    (buffer(), buffer(), options(), 0..tiers().len(), 0..900_usize, any::<u64>()).prop_map(
        |(from, to, options, tier, n, seed)| {
            let codes = patterns::sample(from.dtype(), to.dtype(), n, seed);
            let src = store(from, &codes);
            Job { from, to, options, tier: tiers()[tier], codes, src }
        },
    )
}

proptest! {
    // Failures print the job; nothing is written into the repository.
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 20 } else { 1000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_options_agree_with_the_oracle(job in job()) {
        let (from, to) = (job.from.dtype(), job.to.dtype());
        let expected: Vec<u128> = job.codes.iter().map(|c| oracle::cast(from, to, &job.options, *c)).collect();
        let case = Case { from: job.from, to: job.to, options: &job.options, tier: job.tier };
        case.check(&job.codes, &job.src, &expected, &store(job.to, &expected));
    }

    /// Cut at a whole byte on both sides, the pieces give the bytes of the whole.
    #[test]
    fn chunks(job in job(), cuts in prop::collection::vec(0..300_usize, 0..5)) {
        let (whole, plan) = (job.run(), job.plan());
        let mut dst = vec![0xA5; whole.len()];
        let mut done = 0;
        for cut in cuts.into_iter().map(|c| 4 * c).chain([usize::MAX]) {
            let n = cut.min(job.n() - done);
            let (s, d) = (byte_len(job.from, done), byte_len(job.to, done));
            plan.run(Bytes::new(&job.src[s..], n), BytesMut::new(&mut dst[d..], n)).expect("the buffers fit");
            done += n;
            if done % 4 != 0 {
                break;
            }
        }
        prop_assert_eq!(done, job.n());
        prop_assert_eq!(dst, whole);
    }

    /// The other ways to run a cast.
    #[test]
    fn calls_agree(job in job()) {
        let (whole, plan, n) = (job.run(), job.plan(), job.n());

        let mut uninit = vec![MaybeUninit::new(0xA5); whole.len() + 7];
        let mut uninit = Uninit::new(&mut uninit);
        plan.run(Bytes::new(&job.src, n), BytesMut::uninit(&mut uninit, n)).expect("the buffers fit");
        prop_assert_eq!(&*uninit.written(), &whole[..]);

        // Inside one buffer, in either order.
        for source_first in [true, false] {
            let (src, dst) = if source_first { (1, job.src.len() + 3) } else { (whole.len() + 3, 2) };
            let mut buffer = vec![0xA5; job.src.len() + whole.len() + 8];
            buffer[src..src + job.src.len()].copy_from_slice(&job.src);
            let layout = |of, at| Layout::contiguous(of, &[n]).map(|layout| layout.with_offset(at));
            let (from, to) = (layout(job.from, src).expect("small"), layout(job.to, dst).expect("small"));
            plan.run_within(&mut buffer, &from, &to).expect("nothing overlaps");
            prop_assert_eq!(&buffer[dst..dst + whole.len()], &whole[..]);
            prop_assert_eq!(&buffer[src..src + job.src.len()], &job.src[..]);
        }
    }

    /// A greater real number does not become a smaller one, as long as out-of-range values go to the ends of the
    /// range.
    #[test]
    fn order_is_kept(job in job()) {
        let (from, to) = (job.from.dtype(), job.to.dtype());
        let real = |d: DType| !matches!(d.kind(), Kind::Complex | Kind::Bool);
        prop_assume!(real(from) && real(to));
        let options = job.options.with_saturate(Saturate::On).with_fnuz_inf(FnuzInf::Max);
        let options = options.with_float_to_int(IntOverflow::Saturate).with_int_to_int(IntOverflow::Saturate);
        // A magnitude has no sign to be ordered by.
        let options = match options.e8m0_range {
            E8M0Range::Magnitude => options.with_e8m0_range(E8M0Range::Rounded),
            E8M0Range::Exact | E8M0Range::Rounded => options,
            other => unreachable!("{other:?} is new, and has no rule here"),
        };
        let mut codes = job.codes.clone();
        codes.retain(|&c| !matches!(oracle::value(from, c), Value::Nan(_)));
        codes.sort_by(|&a, &b| order(oracle::value(from, a), oracle::value(from, b)));
        let plan = CastPlan::with_tier(from, to, &options, job.tier).expect("a plan");
        let mut dst = vec![0; byte_len(to.into(), codes.len())];
        plan.run(Bytes::new(&store(from.into(), &codes), codes.len()), BytesMut::new(&mut dst, codes.len())).expect("the buffers fit");
        let results = support::load(to.into(), &dst, codes.len());
        for (k, pair) in results.windows(2).enumerate() {
            let ordering = order(oracle::value(to, pair[0]), oracle::value(to, pair[1]));
            prop_assert_ne!(ordering, Ordering::Greater, "{:#x} and {:#x}", codes[k], codes[k + 1]);
        }
    }
}

/// The order of numbers; zeros are equal.
fn order(a: Value, b: Value) -> Ordering {
    let sign = |v: Value| match v {
        Value::Finite { magnitude, .. } if magnitude.is_zero() => 0,
        Value::Finite { negative, .. } => {
            if negative {
                -1
            } else {
                1
            }
        }
        Value::Infinite { negative } => {
            if negative {
                -2
            } else {
                2
            }
        }
        Value::Nan(_) => panic!("NaN has no place in the order"),
    };
    sign(a).cmp(&sign(b)).then_with(|| match (a, b) {
        (Value::Finite { negative, magnitude: x }, Value::Finite { magnitude: y, .. }) => {
            if negative {
                y.cmp(&x)
            } else {
                x.cmp(&y)
            }
        }
        _ => Ordering::Equal,
    })
}

/// Over several threads, with a length that is no multiple of anything.
#[cfg(feature = "rayon")]
#[test]
fn threads_agree() {
    use DType::*;
    use lanecast::Threads;
    let n = if cfg!(miri) { 100 } else { 3_000_001 };
    if !support::THREADS {
        support::say("SKIPPED: a cast shared by threads: this target has none; the plan runs on the one");
    }
    for (from, to) in [
        (Encoding::new(Float32), Encoding::new(BFloat16)),
        (Encoding::new(Float32), Encoding::packed(Float6E2M3FN)),
        (Encoding::packed(Int4), Encoding::new(Float64)),
        (Encoding::packed(UInt2), Encoding::packed(Float6E3M2FN)),
        (Encoding::new(Complex128), Encoding::new(Complex64)),
    ] {
        let mut rng = support::rng::Rng(5);
        let src: Vec<u8> =
            (0..byte_len(from, n).div_ceil(8)).flat_map(|_| rng.bits().to_ne_bytes()).collect();
        let plan = CastPlan::new(from, to, &CastOptions::RUST).expect("a plan");
        let len = byte_len(to, n);
        let (mut one, mut many) = (vec![0xA5; len + 9], vec![0xA5; len + 9]);
        plan.run(Bytes::new(&src, n), BytesMut::new(&mut one, n)).expect("the buffers fit");
        plan.with_threads(Threads::Rayon)
            .run(Bytes::new(&src, n), BytesMut::new(&mut many, n))
            .expect("the buffers fit");
        assert!(one == many, "{plan:?}");
        // Too small is too small for all threads.
        let error = plan.run(Bytes::new(&src, n), BytesMut::new(&mut one[..len - 1], n));
        assert!(error.is_err());
        assert_eq!(
            plan.with_threads(Threads::Rayon)
                .run(Bytes::new(&src, n), BytesMut::new(&mut many[..len - 1], n)),
            error
        );
        assert!(one == many, "nothing is written");
    }
}

#[test]
fn plans_are_small_and_shared() {
    fn check<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    check::<CastPlan>();
    assert!(size_of::<CastPlan>() <= 112, "{} bytes", size_of::<CastPlan>());
    let plan = CastPlan::new(DType::Float32, DType::Int8, &CastOptions::RUST).expect("a plan");
    let run = |k: u8| {
        let mut dst = [0; 3];
        let src: Vec<u8> = [f32::from(k); 3].iter().flat_map(|x| x.to_ne_bytes()).collect();
        plan.run(Bytes::new(&src, 3), BytesMut::new(&mut dst, 3)).expect("the buffers fit");
        assert_eq!(dst, [k; 3]);
    };
    if !support::THREADS {
        support::say("SKIPPED: a plan shared by threads: this target has none");
        return (0..4).for_each(run);
    }
    std::thread::scope(|scope| {
        for k in 0..4 {
            scope.spawn(move || run(k));
        }
    });
}

/// Packed elements may be more than an `isize` counts, and their bits more than a `usize`, where those have 32 bits.
#[cfg(target_pointer_width = "32")]
#[test]
fn more_bits_than_a_word_counts() {
    use DType::{Int2, UInt2};
    let n = (1 << 31) + 7;
    let options = CastOptions::RUST.with_int_to_int(IntOverflow::Saturate);
    let (from, to) = (Encoding::packed(Int2), Encoding::packed(UInt2));
    let mut src = vec![0_u8; from.byte_len(n).expect("half a gigabyte and two bytes")];
    let last = src.len() - 1;
    // 1, -1, 1, -1 in each byte. Of the last one, three are elements.
    (src[0], src[last - 1], src[last]) = (0b11_01_11_01, 0b01_11_01_11, 0b11_01_11_01);
    let expected = [0b00_01_00_01, 0b01_00_01_00, 0b00_01_00_01];
    for &tier in tiers() {
        let plan = CastPlan::with_tier(from, to, &options, tier).expect("an available tier");
        let mut dst = vec![0xA5; src.len()];
        plan.run(Bytes::new(&src, n), BytesMut::new(&mut dst, n)).expect("the buffers fit");
        assert_eq!([dst[0], dst[last - 1], dst[last]], expected, "{plan:?}");
        dst.copy_from_slice(&src);
        plan.run(lanecast::InPlace, BytesMut::new(&mut dst, n)).expect("the buffer fits");
        assert_eq!([dst[0], dst[last - 1], dst[last]], expected, "{plan:?} in place");
    }
}
