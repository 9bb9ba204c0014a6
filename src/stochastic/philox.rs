//! Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011): a counter and a key become four
//! words by ten rounds of multiplications.

/// The multipliers of the rounds.
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];

/// By what the halves of the key grow from round to round: the golden ratio and the square root of 3, less 1.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The number of counters that are computed at once, round by round. It is large enough that compilers keep the loop over them and use vector
/// registers for it.
const LANES: usize = 64;

/// Elements of that many counters.
const BLOCK: usize = 4 * LANES;

/// The four words of a counter under a key.
///
/// ```
/// // The known answers of Random123.
/// use lanecast::stochastic::philox4x32_10;
/// assert_eq!(philox4x32_10([0; 4], [0; 2]), [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
/// ```
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    rounds(counter.map(|word| [word]), key).map(|[word]| word)
}

/// Ten rounds of several counters: word by word, and within them counter by counter.
#[inline(always)]
fn rounds<const N: usize>(mut words: [[u32; N]; 4], mut key: [u32; 2]) -> [[u32; N]; 4] {
    for _ in 0..10 {
        let [a, b, c, d] = &mut words;
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let p = u64::from(*a) * u64::from(MULTIPLIERS[0]);
            let q = u64::from(*c) * u64::from(MULTIPLIERS[1]);
            *a = (q >> 32) as u32 ^ *b ^ key[0];
            *b = q as u32;
            *c = (p >> 32) as u32 ^ *d ^ key[1];
            *d = p as u32;
        }
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    words
}

/// The halves of a word, the lower one first.
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// The words of consecutive elements, from the index `first` on. After the last index they go on at 0.
pub(super) fn words(seed: u64, stream: u64, first: u64, out: &mut [u32]) {
    let (key, [low, high]) = (halves(seed), halves(stream));
    let (mut counter, mut skip, mut out) = (first / 4, (first % 4) as usize, out);
    while !out.is_empty() {
        let counters: [u64; LANES] =
            core::array::from_fn(|lane| counter.wrapping_add(lane as u64) & (u64::MAX >> 2));
        let [a, b, c, d] = &rounds(
            [
                counters.map(|word| word as u32),
                counters.map(|word| (word >> 32) as u32),
                [low; LANES],
                [high; LANES],
            ],
            key,
        );
        let mut words = [0; BLOCK];
        for (lane, words) in words.chunks_exact_mut(4).enumerate() {
            words.copy_from_slice(&[a[lane], b[lane], c[lane], d[lane]]);
        }
        let (here, behind) = out.split_at_mut(out.len().min(BLOCK - skip));
        here.copy_from_slice(&words[skip..skip + here.len()]);
        (counter, skip, out) = (counter.wrapping_add(LANES as u64), 0, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with Random123 (`kat_vectors`).
    #[test]
    fn known_answers() {
        assert_eq!(philox4x32_10([0; 4], [0; 2]), [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
        let ones = u32::MAX;
        assert_eq!(philox4x32_10([ones; 4], [ones; 2]), [0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD]);
        // The digits of pi.
        let counter = [0x243F_6A88, 0x85A3_08D3, 0x1319_8A2E, 0x0370_7344];
        let key = [0xA409_3822, 0x299F_31D0];
        assert_eq!(philox4x32_10(counter, key), [0xD16C_FE09, 0x94FD_CCEB, 0x5001_E420, 0x2412_6EA1]);
    }

    /// A run gives the same words as each index alone, wherever it begins.
    #[test]
    fn every_index_has_its_word() {
        let (seed, stream) = (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210);
        for first in [0, 1, 6, 31, 33, (1 << 34) - 5, u64::MAX - 40] {
            for n in [0, 1, 3, 31, 256, 300] {
                let mut out = [0; 300];
                words(seed, stream, first, &mut out[..n]);
                for (i, word) in out[..n].iter().enumerate() {
                    let index = first.wrapping_add(i as u64);
                    let ([a, b], [c, d]) = (halves(index / 4), halves(stream));
                    assert_eq!(*word, philox4x32_10([a, b, c, d], halves(seed))[(index % 4) as usize]);
                }
            }
        }
    }
}
