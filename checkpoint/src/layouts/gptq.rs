//! GPTQ: `qweight` [K b/32, N], packed down the columns, `qzeros` [G, N b/32], `scales` [G, N] and `g_idx` [K], the group of each row. The
//! version `gptq` stores zero points less one, `gptq_v2` as they are.
//!
//! `dynamic` in the configuration has rules for modules: a regular expression, and the members that differ. Rules that fit one module must
//! agree: the order in which programs try them is not their order in the JSON.

use lanecast::DType::Int32;
use lanecast_files::Result;
use regex_lite::Regex;
use serde_json::Value;

use super::{Context, Method, WIDE, Weight, number, text};
use crate::{
    coding::{Axis, Codes, Coding, Id, Packing, Zeros},
    error::unsupported,
};

/// The widths that are decoded.
const BITS: [usize; 4] = [2, 3, 4, 8];

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let Some(method) = of.method() else {
        let found = of.any(|tensor| tensor.name.ends_with(".qweight"))
            && of.any(|tensor| tensor.name.ends_with(".g_idx"));
        return Ok(found.then(|| {
            let all = Widths { bits: None, group: None, ordered: false };
            Box::new(Gptq { all, rules: Vec::new(), less_one: true, said: false }) as _
        }));
    };
    let Some(config) = of.config().filter(|_| method == "gptq") else { return Ok(None) };
    let refused = |what: String| Err(unsupported(what).at_path(of.config_path()));
    let format = text(config, "checkpoint_format").unwrap_or("gptq").to_ascii_lowercase();
    let less_one = match format.as_str() {
        "gptq" => true,
        "gptq_v2" => false,
        _ => {
            return refused(format!(
                "the checkpoint_format \"{format}\" is not decoded; gptq and gptq_v2 are"
            ));
        }
    };
    let all = Widths::new(config, &Widths { bits: Some(4), group: None, ordered: false });
    let all = all.map_err(|e| e.at_path(of.config_path()))?;
    let mut rules = Vec::new();
    for (pattern, members) in config.get("dynamic").and_then(Value::as_object).into_iter().flatten() {
        let rule = Rule::new(pattern, members, &all);
        rules.push(rule.map_err(|e| e.at_path(of.config_path()))?);
    }
    Ok(Some(Box::new(Gptq { all, rules, less_one, said: true })))
}

/// How the codes of a module are made.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Widths {
    bits: Option<usize>,
    /// Rows of a group; all if there is no number.
    group: Option<usize>,
    /// Whether rows are in groups of any order, which a tensor must list.
    ordered: bool,
}

impl Widths {
    /// The members of an object, and the members of `others` where it has none.
    fn new(of: &Value, others: &Self) -> Result<Self> {
        let bits = number(of, "bits").or(others.bits);
        if let Some(bits) = bits.filter(|bits| !BITS.contains(bits)) {
            let what = format!("GPTQ of {bits} bits is not decoded; 2, 3, 4 and 8 bits are");
            return Err(unsupported(what));
        }
        // -1 is all rows.
        let group = if of.get("group_size").is_some() { number(of, "group_size") } else { others.group };
        let ordered = of.get("desc_act").map_or(others.ordered, |ordered| ordered == &Value::Bool(true));
        Ok(Self { bits, group, ordered })
    }
}

/// A rule for modules whose names a pattern matches from the start.
struct Rule {
    pattern: String,
    regex: Regex,
    /// `None` if the modules are not quantized.
    widths: Option<Widths>,
}

impl Rule {
    /// The rule of a pattern, which begins with `-:` if its modules are not quantized, and with `+:` or nothing otherwise.
    fn new(pattern: &str, members: &Value, all: &Widths) -> Result<Self> {
        let (text, quantized) = match pattern.strip_prefix("-:") {
            Some(text) => (text, false),
            None => (pattern.strip_prefix("+:").unwrap_or(pattern), true),
        };
        let regex = Regex::new(&format!("^(?:{text})")).map_err(|e| {
            unsupported(format!("the pattern \"{pattern}\" of \"dynamic\" is not understood, {e}"))
        })?;
        let widths = match quantized {
            true => Some(Widths::new(members, all)?),
            false => None,
        };
        Ok(Self { pattern: pattern.to_owned(), regex, widths })
    }
}

struct Gptq {
    /// How the codes of modules without a rule are made.
    all: Widths,
    rules: Vec<Rule>,
    less_one: bool,
    /// Whether the configuration says whether zero points are stored less one.
    said: bool,
}

impl Method for Gptq {
    fn name(&self) -> &'static str {
        "GPTQ"
    }

    fn telling(&self) -> &'static [&'static str] {
        &[".scales"]
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let Some(module) = of.tensor(codes).name.strip_suffix(".qweight") else { return Ok(None) };
        let scales = of.need(&format!("{module}.scales"), codes)?;
        let zeros = of.need(&format!("{module}.qzeros"), codes)?;
        let mut rules = self.rules.iter().filter(|rule| rule.regex.is_match(module));
        let rule = rules.next();
        if let (Some(one), Some(other)) =
            (rule, rules.find(|other| rule.is_some_and(|one| one.widths != other.widths)))
        {
            let what = format!(
                "the rules \"{}\" and \"{}\" of \"dynamic\" both fit \"{module}\", and differ",
                one.pattern, other.pattern
            );
            return Err(of.refused(codes, what));
        }
        let Some(widths) = rule.map_or(Some(self.all), |rule| rule.widths) else {
            return Err(of.disagree(codes, format!("that \"{module}\" is not quantized (\"dynamic\")")));
        };
        let g_idx = format!("{module}.g_idx");
        let g_idx = if widths.ordered { Some(of.need(&g_idx, codes)?) } else { of.find(&g_idx) };
        for id in [codes, zeros].into_iter().chain(g_idx) {
            of.expect(id, &[Int32])?;
        }
        of.expect(scales, WIDE)?;
        let [words, n] = of.matrix(codes)?;
        let rows = g_idx.map(|id| of.tensor(id).len());
        let bits = match (widths.bits, rows) {
            (Some(bits), _) => bits,
            (None, Some(k)) if k > 0 => words * 32 / k,
            _ => {
                return Err(
                    of.wrong(codes, "neither a configuration nor a tensor g_idx tells the bits of a code")
                );
            }
        };
        let k = rows.unwrap_or(words * 32 / bits);
        if !BITS.contains(&bits) || k * bits != words * 32 {
            return Err(of.disagree(codes, format!("{bits} bits, which {k} rows do not fill")));
        }
        let shape = [k, n];
        let groups = of.matrix(scales)?[0].max(1);
        let block = match (widths.group, g_idx) {
            (Some(group), _) => group,
            (None, _) if widths.bits.is_some() => k,
            (None, _) => k.div_ceil(groups),
        };
        let zero_pitch = 4 * (n * bits).div_ceil(32);
        let coding = Coding {
            scales: Some(of.scales(scales, &shape, [block, 1])?),
            zeros: Zeros::Tensor {
                id: zeros,
                packing: Packing::rows(bits as u32, zero_pitch),
                signed: false,
                less_one: self.less_one,
            },
            groups: g_idx.map(|id| (id, Axis::Rows)),
            ..Coding::packed(codes, Codes::Unsigned, Packing::columns(bits as u32, n), &shape).transposed()
        };
        let companions = [scales, zeros].into_iter().chain(g_idx).collect();
        let (name, module) = (format!("{module}.weight"), module.to_owned());
        Ok(Some(Weight { name, module, coding, companions }))
    }

    fn warnings(&self) -> Vec<String> {
        let said = "no configuration says whether zero points are stored less one (gptq) or as they are (gptq_v2); they are read as those of gptq";
        if self.said { Vec::new() } else { vec![said.to_owned()] }
    }
}
