//! The environment variables: what they name holds, what they name wrongly is ignored with one warning, and
//! `tier::from_env` refuses it.
#![cfg(all(feature = "std", not(target_family = "wasm"), not(miri)))]

use lanecast::{CastOptions, CastPlan, DType, Tier, tier};
use std::{env, process::Command};

/// Set in the processes that this test starts.
const CHILD: &str = "LANECAST_TEST_CHILD";

/// Run by itself it does nothing; as a child it casts and prints what it found.
#[test]
fn child() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    for _ in 0..3 {
        let mut out = [0_u8; 2];
        lanecast::cast(&[2.5_f32, 300.0], &mut out).expect("equal lengths");
        assert_eq!(out, [2, 255]);
        let plan = CastPlan::with_tier(DType::Int8, DType::Int16, &CastOptions::RUST, Tier::Scalar);
        assert!(plan.is_ok());
    }
    println!("[used {}]", tier::active());
    match tier::from_env() {
        Ok(tier) => println!("[names {}]", tier.map_or("none", Tier::name)),
        Err(error) => println!("[refused {error}]"),
    }
}

/// What a child prints with these variables, and the lines of warning.
fn run(variables: &[(&str, &str)]) -> (String, Vec<String>) {
    let mut command = Command::new(env::current_exe().expect("this test has a path"));
    command.args(["--exact", "environment::child", "--nocapture"]).env(CHILD, "1");
    command.env_remove("LANECAST_TIER").env_remove("LANECAST_DISABLE").envs(variables.iter().copied());
    let output = command.output().expect("this test runs once more");
    assert!(output.status.success(), "{variables:?}: {output:?}");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let warnings =
        text(output.stderr).lines().filter(|line| line.contains("lanecast")).map(Into::into).collect();
    (text(output.stdout), warnings)
}

#[test]
fn right() {
    let best = Tier::best();
    for (variables, used, named) in [
        (&[][..], best, "none"),
        (&[("LANECAST_TIER", ""), ("LANECAST_DISABLE", "")], best, "none"),
        (&[("LANECAST_TIER", "Scalar")], Tier::Scalar, "scalar"),
        // Names of features are those of all architectures.
        (&[("LANECAST_DISABLE", "bf16, avx512vbmi,")], best, "none"),
    ] {
        let (said, warnings) = run(variables);
        assert!(warnings.is_empty(), "{variables:?}: {warnings:?}");
        assert!(
            said.contains(&format!("[used {used}]")) && said.contains(&format!("[names {named}]")),
            "{said}"
        );
    }
}

#[test]
fn wrong() {
    let best = format!("[used {}]", Tier::best());
    let absent = Tier::ALL.iter().find(|tier| !tier.is_available()).map(|tier| tier.name());
    let mut cases = vec![
        ("LANECAST_TIER", "sse9", "no tier has this name; those that can run here are scalar"),
        ("LANECAST_DISABLE", "bf16,avx9", r#"no kernel uses a CPU feature "avx9"; the names are avx512vbmi"#),
    ];
    cases.extend(absent.map(|tier| ("LANECAST_TIER", tier, "cannot run here")));
    for (variable, value, says) in cases {
        let (said, warnings) = run(&[(variable, value)]);
        assert!(said.contains(&best), "{said}");
        assert!(said.contains("[refused ") && said.contains(says), "{said}");
        let [warning] = &warnings[..] else { panic!("one warning: {warnings:?}") };
        let parts = [variable, value, says, "It is ignored"];
        assert!(parts.iter().all(|part| warning.contains(part)), "{warning}");
    }
    let (_, warnings) = run(&[("LANECAST_TIER", "sse9"), ("LANECAST_DISABLE", "avx9")]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}
