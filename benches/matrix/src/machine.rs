//! On what a run was made: all that a reader needs to know which results may be laid side by side.

use lanecast::Tier;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, time::SystemTime};

/// The head of a result file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The model name of the CPU.
    pub cpu: String,
    /// Family, model and stepping where the model name says little.
    pub cpu_id: String,
    /// Logical CPUs.
    pub cpus: usize,
    /// Caches by name (`L1d`, `L2`, `L3`) with their bytes.
    pub caches: BTreeMap<String, usize>,
    /// The target triple the program was built for.
    pub target: String,
    /// The operating system's own description.
    pub os: String,
    /// The compiler.
    pub rustc: String,
    /// The commit the program was built from.
    pub commit: String,
    /// When the run began, UTC.
    pub date: String,
    /// The tiers that can run.
    pub tiers: Vec<String>,
    /// The vector features that the CPU has.
    pub features: Vec<String>,
}

impl Machine {
    /// This machine.
    pub fn detect() -> Machine {
        let info = cpu_info();
        let field = |name: &str| info.get(name).cloned().unwrap_or_else(|| "unknown".into());
        Machine {
            cpu: field("model name"),
            cpu_id: format!(
                "family {}, model {}, stepping {}",
                field("cpu family"),
                field("model"),
                field("stepping")
            ),
            cpus: std::thread::available_parallelism().map_or(1, Into::into),
            caches: caches(),
            target: env!("LANECAST_BENCH_TARGET").into(),
            os: os(),
            rustc: env!("LANECAST_BENCH_RUSTC").into(),
            commit: env!("LANECAST_BENCH_COMMIT").into(),
            date: date(),
            tiers: Tier::ALL
                .iter()
                .filter(|tier| tier.is_available())
                .map(|tier| tier.name().into())
                .collect(),
            features: features(),
        }
    }

    /// Bytes of the last cache; 32 MiB if they are not known.
    pub fn last_cache(&self) -> usize {
        self.caches.values().copied().max().unwrap_or(32 << 20)
    }
}

/// The fields of the first CPU in `/proc/cpuinfo`; nothing elsewhere.
fn cpu_info() -> BTreeMap<String, String> {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fields = text.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    fields.map(|(name, value)| (name.trim().into(), value.trim().into())).collect()
}

/// The caches that hold data, from `/sys`; nothing elsewhere.
fn caches() -> BTreeMap<String, usize> {
    let directory = "/sys/devices/system/cpu/cpu0/cache";
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let cache = |entry: fs::DirEntry| {
        let read =
            |name: &str| fs::read_to_string(entry.path().join(name)).ok().map(|text| text.trim().to_owned());
        let (level, kind, size) = (read("level")?, read("type")?, read("size")?);
        let bytes = 1024 * size.strip_suffix('K')?.parse::<usize>().ok()?;
        match &*kind {
            "Data" => Some((format!("L{level}d"), bytes)),
            "Unified" => Some((format!("L{level}"), bytes)),
            _ => None,
        }
    };
    entries.filter_map(cache).collect()
}

fn os() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim().into()
}

/// Now, in UTC to the minute.
fn date() -> String {
    let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    let minutes = seconds / 60 % 1440;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}Z", minutes / 60, minutes % 60)
}

/// The civil date of a day since 1970-01-01, by years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    macro_rules! have {
        ($($name:tt)*) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),*]
        };
    }
    let all = have! {
        "avx2" "fma" "f16c" "bmi2" "avx512f" "avx512bw" "avx512vl" "avx512dq" "avx512vbmi" "avx512vbmi2" "avx512bf16"
        "avx512fp16" "avx512vnni" "gfni"
    };
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.into()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<String> {
    lanecast::Tier::best().features().iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
