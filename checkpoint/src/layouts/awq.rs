//! AWQ, version gemm: `qweight` [K, N/8] and `qzeros` [K/g, N/8] of nibbles in the order 0 2 4 6 1 3 5 7, `scales` [K/g, N].

use lanecast::DType::Int32;
use lanecast_files::Result;

use super::{Context, Method, WIDE, Weight, number, text};
use crate::{
    coding::{Codes, Coding, Id, Order, Packing, Zeros},
    error::unsupported,
};

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let Some(method) = of.method() else {
        let found = of.any(|tensor| tensor.name.ends_with(".qweight"));
        return Ok(found.then(|| Box::new(Awq { group: None }) as Box<dyn Method>));
    };
    let Some(config) = of.config().filter(|_| method == "awq") else { return Ok(None) };
    let version = text(config, "version").unwrap_or("gemm").to_ascii_lowercase();
    let bits = number(config, "bits").or_else(|| number(config, "w_bit")).unwrap_or(4);
    if version != "gemm" || bits != 4 {
        let what = format!(
            "AWQ of {bits} bits in the version \"{version}\" is not decoded; 4 bits in the version gemm are"
        );
        return Err(unsupported(what).at_path(of.config_path()));
    }
    let group = number(config, "group_size").or_else(|| number(config, "q_group_size"));
    Ok(Some(Box::new(Awq { group })))
}

struct Awq {
    /// Columns of a group; all if there is no number.
    group: Option<usize>,
}

impl Method for Awq {
    fn name(&self) -> &'static str {
        "AWQ"
    }

    fn telling(&self) -> &'static [&'static str] {
        &[".scales"]
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let Some(module) = of.tensor(codes).name.strip_suffix(".qweight") else { return Ok(None) };
        of.expect(codes, &[Int32])?;
        let scales = of.need(&format!("{module}.scales"), codes)?;
        let zeros = of.need(&format!("{module}.qzeros"), codes)?;
        of.expect(zeros, &[Int32])?;
        of.expect(scales, WIDE)?;
        let [k, words] = of.matrix(codes)?;
        let shape = [k, 8 * words];
        let groups = of.matrix(scales)?[0].max(1);
        // Without a configuration, groups are equally large.
        let group = self.group.unwrap_or(k.div_ceil(groups));
        let packing = Packing::rows(4, 4 * words).with_order(Order::Awq);
        let coding = Coding {
            scales: Some(of.scales(scales, &shape, [group, 1])?),
            zeros: Zeros::Tensor { id: zeros, packing, signed: false, less_one: false },
            ..Coding::packed(codes, Codes::Unsigned, packing, &shape).transposed()
        };
        let (name, module) = (format!("{module}.weight"), module.to_owned());
        Ok(Some(Weight { name, module, coding, companions: vec![scales, zeros] }))
    }
}
