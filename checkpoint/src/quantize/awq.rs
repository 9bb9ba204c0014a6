//! AWQ in the version gemm: `qweight` [K, N/8] in the order 0 2 4 6 1 3 5 7, `qzeros` alike, and `scales` for each group. Codes come from another
//! layout.

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    gptq::{group_size, tensors},
    layout::{Layout, Output},
    scheme::QuantScheme,
};
use crate::coding::{Order, Packing};

pub(super) struct Awq;

impl Layout for Awq {
    fn name(&self) -> &'static str {
        "awq"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::W4a16]
    }

    fn only_moves(&self) -> bool {
        true
    }

    fn words(&self) -> [usize; 2] {
        [8, 1]
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let [n, k] = weight.shape();
        let packing = Packing::rows(4, n / 2).with_order(Order::Awq);
        tensors(weight, (packing, [k, n / 8]), packing, false)
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        Some(json!({
            "quant_method": "awq",
            "bits": 4,
            "group_size": group_size(chosen),
            "zero_point": true,
            "version": "gemm",
            "modules_to_not_convert": chosen.ignored,
        }))
    }
}
