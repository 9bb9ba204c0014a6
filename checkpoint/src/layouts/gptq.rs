//! GPTQ: `qweight` [K b/32, N], packed down the columns, `qzeros` [G, N b/32], `scales` [G, N] and `g_idx` [K], the group of each row. The
//! version `gptq` stores zero points less one, `gptq_v2` as they are.

use lanecast::DType::Int32;
use lanecast_files::Result;
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
            Box::new(Gptq { bits: None, group: None, less_one: true, said: false, ordered: false }) as _
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
    let bits = number(config, "bits").unwrap_or(4);
    if !BITS.contains(&bits) {
        return refused(format!("GPTQ of {bits} bits is not decoded; 2, 3, 4 and 8 bits are"));
    }
    if config.get("dynamic").and_then(|of| of.as_object()).is_some_and(|of| !of.is_empty()) {
        return refused("GPTQ with other bits for some modules (\"dynamic\") is not decoded".to_owned());
    }
    // -1 is all rows.
    let group = number(config, "group_size");
    let ordered = config.get("desc_act") == Some(&Value::Bool(true));
    Ok(Some(Box::new(Gptq { bits: Some(bits), group, less_one, said: true, ordered })))
}

struct Gptq {
    bits: Option<usize>,
    group: Option<usize>,
    less_one: bool,
    /// Whether the configuration says whether zero points are stored less one.
    said: bool,
    /// Whether the configuration says that rows are in groups of any order, which a tensor must list.
    ordered: bool,
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
        let g_idx = format!("{module}.g_idx");
        let g_idx = if self.ordered { Some(of.need(&g_idx, codes)?) } else { of.find(&g_idx) };
        for id in [codes, zeros].into_iter().chain(g_idx) {
            of.expect(id, &[Int32])?;
        }
        of.expect(scales, WIDE)?;
        let [words, n] = of.matrix(codes)?;
        let rows = g_idx.map(|id| of.tensor(id).len());
        let bits = match (self.bits, rows) {
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
        let block = match (self.group, g_idx) {
            (Some(group), _) => group,
            (None, _) if self.bits.is_some() => k,
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
