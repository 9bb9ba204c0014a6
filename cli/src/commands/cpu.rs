//! `lanecast cpu`.

use std::thread;

use lanecast::Tier;
use serde::Serialize;

use crate::{error::Result, output, report::json, text};

#[derive(Serialize)]
struct Cpu {
    architecture: &'static str,
    threads: usize,
    tier: &'static str,
    reason: &'static str,
    tiers: Vec<TierRow>,
}

#[derive(Serialize)]
struct TierRow {
    name: &'static str,
    available: bool,
    status: String,
    /// The optional CPU features that its kernels use here.
    features: &'static [&'static str],
}

impl TierRow {
    fn status(&self) -> String {
        if self.features.is_empty() {
            self.status.clone()
        } else {
            format!("{}, with {}", self.status, self.features.join(", "))
        }
    }
}

/// Runs the subcommand.
pub fn run(as_json: bool) -> Result<()> {
    let tier = lanecast::tier::active();
    let cpu = Cpu {
        architecture: std::env::consts::ARCH,
        threads: thread::available_parallelism().map_or(1, usize::from),
        tier: tier.name(),
        reason: lanecast::tier::reason(),
        tiers: Tier::ALL
            .iter()
            .map(|tier| TierRow {
                name: tier.name(),
                available: tier.is_available(),
                status: tier.status().to_string(),
                features: tier.features(),
            })
            .collect(),
    };
    if as_json {
        return output::print(&json(&cpu)?);
    }
    let rows: Vec<Vec<String>> = cpu.tiers.iter().map(|row| vec![row.name.into(), row.status()]).collect();
    output::print(&format!(
        "{}{}, {} threads\nused: {}, {}\n",
        text::table(&rows),
        cpu.architecture,
        cpu.threads,
        cpu.tier,
        cpu.reason
    ))
}
