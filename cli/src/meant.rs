//! Suggestions for names that are not a dtype's name here: `fp8`, `e4m3`, `float`, `torch.half`.
//!
//! The library's error has names of similar spelling. This module adds the names that other systems have for the
//! dtypes ([`lanecast::names`]), and words for kinds of dtypes that no system uses as a name ([`KINDS`]). They are
//! only suggestions: a name that may mean two dtypes is never taken for one of them.

use std::fmt;

use lanecast::{DType, names::Namespace, scaled::Scheme};
use lanecast_files::Target;

use crate::text;

/// A kind of dtypes: its names, in lower case, without `_`, `-` and `mx`, and with `fp` and `float` written as `f`; the
/// dtypes; how they differ.
type KindRow = (&'static [&'static str], &'static [DType], &'static str);

const KINDS: &[KindRow] = &[
    (
        &["f8"],
        &[DType::Float8E4M3FN, DType::Float8E5M2],
        "float8_e4m3fn has the finer steps, for weights and activations; float8_e5m2 the wider range, for gradients",
    ),
    (
        &["f8e4m3", "e4m3"],
        &[DType::Float8E4M3FN, DType::Float8E4M3],
        "PyTorch, safetensors, ONNX and NVIDIA mean float8_e4m3fn, up to 448, without infinities; float8_e4m3 ends at 240 and has them",
    ),
    (&["hf8", "f8e4", "f8e4nv", "f8e4fn"], &[DType::Float8E4M3FN], ""),
    (&["bf8", "f8e5"], &[DType::Float8E5M2], ""),
    (
        &["f6"],
        &[DType::Float6E2M3FN, DType::Float6E3M2FN],
        "float6_e2m3fn has the finer steps, float6_e3m2fn the wider range",
    ),
    (
        &["nvf4"],
        &[DType::Float4E2M1FN],
        "a cast has no scales: `lanecast scale --scheme nvfp4` makes NVFP4, codes with a scale for each 16",
    ),
    (&["f4"], &[DType::Float4E2M1FN], ""),
    (
        &["b", "bf", "bfloat", "bfp16", "bff16", "brainf", "brainf16", "bfloat1", "b16"],
        &[DType::BFloat16],
        "",
    ),
    (
        &["tf32", "tensorf32"],
        &[DType::Float32],
        "TF32 is a way to compute on float32; values are stored as float32",
    ),
    (&["scale", "ue8m0", "f8ue8m0"], &[DType::Float8E8M0FNU], ""),
    (&["complex"], &[DType::Complex64, DType::Complex128], ""),
];

/// The error for a name that is not a dtype's.
#[derive(Clone, Debug)]
pub struct UnknownDType {
    /// The dtypes that may be meant, likeliest first.
    meant: Vec<&'static str>,
    /// How they differ.
    tips: Vec<String>,
}

impl std::error::Error for UnknownDType {}

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such dtype")?;
        for (i, meant) in self.meant.iter().enumerate() {
            let last = i + 1 == self.meant.len();
            let joint = if i == 0 {
                "; did you mean "
            } else if last {
                " or "
            } else {
                ", "
            };
            write!(f, "{joint}{meant}")?;
        }
        if self.meant.is_empty() { Ok(()) } else { f.write_str("?") }
    }
}

impl UnknownDType {
    /// Advice on which dtype to choose.
    pub fn tips(&self) -> Vec<String> {
        let mut tips = self.tips.clone();
        tips.push("`lanecast dtypes` lists all dtypes".into());
        tips
    }

    fn new(name: &str, near: Vec<&'static str>) -> Self {
        let mut unknown = Self { meant: Vec::new(), tips: Vec::new() };
        // No name is that long.
        if name.len() > 64 {
            return unknown;
        }
        // `torch.float16`, `np.half`, `TensorProto.FLOAT`
        let bare = name.rsplit(['.', ':']).next().unwrap_or(name);
        if let (true, Ok(dtype)) = (bare != name, bare.parse()) {
            unknown.add(dtype);
        }
        unknown.add_kind(bare);
        unknown.add_systems(bare);
        if unknown.meant.is_empty() {
            unknown.meant = near;
        }
        unknown
    }

    fn add(&mut self, dtype: DType) {
        if !self.meant.contains(&dtype.name()) {
            self.meant.push(dtype.name());
        }
    }

    fn add_kind(&mut self, name: &str) {
        let name: String = name.to_ascii_lowercase().chars().filter(|c| !"_- ".contains(*c)).collect();
        let blocks = name.strip_prefix("mx");
        let key = blocks.unwrap_or(&name).replace("float", "f").replace("fp", "f");
        let keys = [&key[..], &name];
        let Some((_, dtypes, tip)) = KINDS.iter().find(|(names, ..)| keys.iter().any(|k| names.contains(k)))
        else {
            return;
        };
        dtypes.iter().for_each(|dtype| self.add(*dtype));
        if !tip.is_empty() {
            self.tips.push((*tip).into());
        }
        if let (Some(_), [to, ..]) = (blocks, dtypes) {
            self.tips.push(format!(
                "a cast has no scales: `lanecast scale --scheme mx --to {to}` makes MX, codes with a scale of float8_e8m0fnu for each 32"
            ));
        }
    }

    /// Adds the dtypes that have this name in other systems, and the systems.
    fn add_systems(&mut self, name: &str) {
        let (lower, upper) = (name.to_ascii_lowercase(), name.to_ascii_uppercase());
        let parse = |space: &Namespace| {
            [name, &lower, &upper]
                .into_iter()
                .find_map(|name| space.parse(name).ok())
                .map(|dtype| (dtype, space.id()))
        };
        let mut found: Vec<(DType, &str)> = Namespace::ALL.iter().filter_map(parse).collect();
        found.sort_by_key(|(dtype, _)| *dtype);
        for group in found.chunk_by(|a, b| a.0 == b.0) {
            self.add(group[0].0);
            let systems: Vec<&str> = group.iter().map(|(_, system)| *system).collect();
            self.tips.push(format!("{} is {} in {}", text::one_line(name), group[0].0, systems.join(", ")));
        }
    }
}

/// The dtypes that a name stands for: the dtype with that name, or all of a kind such as `fp8`.
#[derive(Clone, Debug)]
pub struct Targets(pub Vec<Target>);

/// The dtypes or the scheme that `name` stands for.
pub fn targets(name: &str) -> Result<Targets, UnknownDType> {
    if let Some(scheme) = Scheme::from_name(name) {
        return Ok(Targets(vec![Target::Scheme(scheme)]));
    }
    dtype(name).map(|dtype| Targets(vec![Target::DType(dtype)])).or_else(|unknown| {
        let mut of_kind = UnknownDType { meant: Vec::new(), tips: Vec::new() };
        of_kind.add_kind(name);
        let found = of_kind.meant.iter().filter_map(|name| name.parse::<DType>().ok());
        let found: Vec<Target> = found.map(Target::DType).collect();
        if found.is_empty() { Err(unknown) } else { Ok(Targets(found)) }
    })
}

/// The dtype called `name`.
pub fn dtype(name: &str) -> Result<DType, UnknownDType> {
    name.parse::<DType>().map_err(|unknown| UnknownDType::new(name, unknown.near))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suggest_what_their_users_mean() {
        for (name, meant) in [
            ("fp8", "float8_e4m3fn or float8_e5m2"),
            ("float8", "float8_e4m3fn or float8_e5m2"),
            ("FP8", "float8_e4m3fn or float8_e5m2"),
            ("f8", "float8_e4m3fn, float8_e5m2 or float64"),
            ("mxfp8", "float8_e4m3fn or float8_e5m2"),
            ("e4m3", "float8_e4m3fn or float8_e4m3"),
            ("fp8_e4m3", "float8_e4m3fn or float8_e4m3"),
            ("F8_E4M3", "float8_e4m3fn or float8_e4m3"),
            ("fp4", "float4_e2m1fn"),
            ("mxfp4", "float4_e2m1fn"),
            ("nvfp4", "float4_e2m1fn"),
            ("mxfp6", "float6_e2m3fn or float6_e3m2fn"),
            ("f4", "float4_e2m1fn or float32"),
            ("bf", "bfloat16"),
            ("bfloat", "bfloat16"),
            ("tf32", "float32"),
            ("float", "float32 or float64"),
            ("int", "int32 or int64"),
            ("long", "int64"),
            ("short", "int16"),
            ("byte", "int8"),
            ("uint", "uint64"),
            ("complex", "complex64 or complex128"),
            ("<f4", "float32"),
            ("halffloat", "float16"),
            ("torch.float16", "float16"),
            ("np.half", "float16"),
            ("torch.float", "float32 or float64"),
            ("TensorProto.FLOAT8E8M0", "float8_e8m0fnu"),
            ("float8_e4m3fm", "float8_e4m3fn or float8_e4m3"),
            ("bflaot16", "bfloat16"),
            ("u9", "uint2, uint4 or uint8"),
        ] {
            let unknown = dtype(name).expect_err(name);
            assert_eq!(unknown.to_string(), format!("no such dtype; did you mean {meant}?"), "{name}");
        }
        let names = |name| targets(name).unwrap().0.iter().map(|dtype| dtype.name()).collect::<Vec<_>>();
        assert_eq!(names("fp8"), ["float8_e4m3fn", "float8_e5m2"]);
        assert_eq!(names("bf16"), ["bfloat16"]);
        assert!(targets("quaternion").is_err());
        assert_eq!(dtype("quaternion").unwrap_err().to_string(), "no such dtype");
        assert_eq!(dtype(&"x".repeat(1 << 20)).unwrap_err().to_string(), "no such dtype");
    }

    #[test]
    fn kinds_are_no_dtypes() {
        for (name, dtypes, _) in
            KINDS.iter().flat_map(|(names, dtypes, tip)| names.iter().map(move |n| (*n, dtypes, tip)))
        {
            assert!(name.parse::<DType>().is_err() && !dtypes.is_empty(), "{name}");
        }
    }
}
