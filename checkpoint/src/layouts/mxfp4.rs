//! MXFP4 of gpt-oss: `X_blocks` U8 [E, out, in/32, 16] and `X_scales` U8 [E, out, in/32]. The weight is `X` [E, in, out].

use lanecast::DType::{Float4E2M1FN, UInt8};
use lanecast_files::Result;

use super::{Context, Method, POWERS, Weight};
use crate::coding::{Codes, Coding, Id, Packing};

pub(super) fn recognise(of: &Context<'_>) -> Result<Option<Box<dyn Method>>> {
    let found = match of.method() {
        Some(method) => method == "mxfp4",
        None => of.any(|tensor| {
            tensor.name.strip_suffix("_blocks").is_some_and(|x| of.find(&format!("{x}_scales")).is_some())
        }),
    };
    Ok(found.then(|| Box::new(Mxfp4) as Box<dyn Method>))
}

struct Mxfp4;

impl Method for Mxfp4 {
    fn name(&self) -> &'static str {
        "MXFP4 of gpt-oss"
    }

    fn telling(&self) -> &'static [&'static str] {
        &["_scales", "_blocks"]
    }

    fn resolve(&self, of: &Context<'_>, codes: Id) -> Result<Option<Weight>> {
        let Some(name) = of.tensor(codes).name.strip_suffix("_blocks") else { return Ok(None) };
        of.expect(codes, &[UInt8])?;
        let scales = of.need(&format!("{name}_scales"), codes)?;
        of.expect(scales, POWERS)?;
        let [leading @ .., blocks, 16] = of.shape(codes) else {
            return Err(of.wrong(codes, format!("the shape must end with 16, not {:?}", of.shape(codes))));
        };
        if leading.is_empty() {
            return Err(of.wrong(codes, "the codes need an axis of outputs"));
        }
        let shape = [leading, &[32 * blocks]].concat();
        let packing = Packing::rows(4, 16 * blocks);
        let coding = Coding {
            scales: Some(of.scales(scales, &shape, [1, 32])?),
            ..Coding::packed(codes, Codes::Float(Float4E2M1FN), packing, &shape).transposed()
        };
        let module = name.rsplit_once('.').map_or(name, |(module, _)| module).to_owned();
        Ok(Some(Weight { name: name.to_owned(), module, coding, companions: vec![scales] }))
    }
}
