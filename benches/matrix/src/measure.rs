//! How times are taken.
//!
//! Machines are shared and clocks wander, so nothing is compared with what was measured a second ago: all contenders of a
//! cell take turns, round after round, and a fraction is the median of the rounds' own ratios. A contender runs once
//! untimed before its turn, so that it finds its own bytes in the caches and not those the one before it left. What is faster
//! than the clock's grain runs several times to a turn.

use std::time::{Duration, Instant};

/// Something to be timed: does its work as many times as it is told.
pub type Contender<'a> = Box<dyn FnMut(usize) + 'a>;

/// How long to measure a cell.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The time that all rounds of a cell may take together.
    pub budget: Duration,
    /// At least this many rounds, whatever they take.
    pub min_rounds: usize,
    /// At most this many.
    pub max_rounds: usize,
    /// How long a timed turn is to last at least.
    pub turn: Duration,
}

/// Nanoseconds of one call of each contender, in every round.
pub struct Rounds {
    times: Vec<Vec<f64>>,
}

/// A contender that takes longer than this gets no untimed call before each turn: caches cannot matter to it.
const LONG: Duration = Duration::from_millis(40);

/// Times the contenders against each other.
pub fn measure(contenders: &mut [Contender<'_>], effort: &Effort) -> Rounds {
    let mut calls = Vec::new();
    let mut warm = Vec::new();
    for contender in contenders.iter_mut() {
        contender(1);
        let (count, once) = calibrate(contender, effort.turn);
        calls.push(count);
        warm.push(once < LONG);
    }
    let mut times = vec![Vec::new(); contenders.len()];
    let started = Instant::now();
    for round in 0..effort.max_rounds {
        if round >= effort.min_rounds && started.elapsed() >= effort.budget {
            break;
        }
        for (k, contender) in contenders.iter_mut().enumerate() {
            if warm[k] {
                contender(1);
            }
            let start = Instant::now();
            contender(calls[k]);
            times[k].push(start.elapsed().as_nanos() as f64 / calls[k] as f64);
        }
    }
    Rounds { times }
}

/// How many calls fill a turn, and how long one takes.
fn calibrate(contender: &mut Contender<'_>, turn: Duration) -> (usize, Duration) {
    let mut time = |calls| {
        let start = Instant::now();
        contender(calls);
        start.elapsed()
    };
    let mut calls = 1;
    loop {
        let mut took = time(calls);
        // An interruption makes one call look long enough to fill a turn.
        if !turn.is_zero() && took > 4 * turn {
            took = took.min(time(calls));
        }
        if took >= turn / 4 {
            let once = took / calls as u32;
            let needed = turn.as_nanos().div_ceil(once.as_nanos().max(1));
            return (needed.clamp(1, 1 << 24) as usize, once);
        }
        calls *= 4;
    }
}

impl Rounds {
    /// The median time of one call of a contender, in nanoseconds.
    pub fn time(&self, contender: usize) -> f64 {
        median(self.times[contender].iter().copied())
    }

    /// The median over the rounds of one contender's time divided by another's.
    pub fn ratio(&self, numerator: usize, denominator: usize) -> f64 {
        median(self.times[numerator].iter().zip(&self.times[denominator]).map(|(a, b)| a / b))
    }

    /// The median over the rounds of one contender's time less another's, in nanoseconds.
    pub fn difference(&self, contender: usize, other: usize) -> f64 {
        median(self.times[contender].iter().zip(&self.times[other]).map(|(a, b)| a - b))
    }

    /// How many rounds there were.
    pub fn count(&self) -> usize {
        self.times.first().map_or(0, Vec::len)
    }
}

/// The middle value; the mean of the two in the middle of an even number, NaN of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median([7.0]), 7.0);
        assert!(median([]).is_nan());
    }

    #[test]
    fn an_interruption_does_not_shorten_the_turns() {
        let mut first = true;
        let mut contender: Contender<'_> = Box::new(move |calls| {
            if std::mem::take(&mut first) {
                std::thread::sleep(Duration::from_millis(5));
            }
            (0..calls).for_each(|call| _ = std::hint::black_box(call));
        });
        let (calls, _) = calibrate(&mut contender, Duration::from_millis(1));
        assert!(calls > 16, "{calls} calls to a turn");
    }

    #[test]
    fn rounds_take_turns() {
        let log = std::cell::RefCell::new(Vec::new());
        let record = |name: char| -> Contender<'_> {
            let log = &log;
            Box::new(move |calls| {
                log.borrow_mut().push(name);
                std::thread::sleep(Duration::from_micros(50 * calls as u64));
            })
        };
        let effort =
            Effort { budget: Duration::ZERO, min_rounds: 2, max_rounds: 5, turn: Duration::from_micros(20) };
        let rounds = measure(&mut [record('a'), record('b')], &effort);
        assert_eq!(rounds.count(), 2);
        let log = log.borrow();
        assert_eq!(log[log.len() - 8..], ['a', 'a', 'b', 'b', 'a', 'a', 'b', 'b']);
    }
}
