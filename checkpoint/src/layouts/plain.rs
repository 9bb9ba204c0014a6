//! No quantization: every tensor is what it says. 8-bit floats without scales are values.

use lanecast_files::Result;

use super::{Context, Method, Weight};
use crate::coding::Id;

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    Ok(of.method().is_none().then(|| Box::new(Plain) as Box<dyn Method>))
}

struct Plain;

impl Method for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn resolve(&self, _: &Context<'_>, _: Id) -> Result<Option<Weight>> {
        Ok(None)
    }

    fn allows_plain_fp8(&self) -> bool {
        true
    }
}
