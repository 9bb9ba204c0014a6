//! Tmp.
use lanecast::{BytesMut, DType, Encoding, half::bf16, scaled::*};
use lanecast_checkpoint::*;
use std::{path::Path, time::Instant};
fn best(mut f: impl FnMut()) -> f64 {
    (0..9)
        .map(|_| {
            let t = Instant::now();
            f();
            t.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min)
}
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let src = Path::new(&dir).join("f32");
    for (scheme, layout) in [
        (QuantScheme::Mxfp4, QuantLayout::CompressedTensors),
        (QuantScheme::Fp8Block, QuantLayout::DeepSeek),
        (QuantScheme::Nvfp4, QuantLayout::CompressedTensors),
        (QuantScheme::W4a16, QuantLayout::CompressedTensors),
    ] {
        let dst = Path::new(&dir).join("q");
        let options = QuantizeOptions { replace: true, ..QuantizeOptions::new(scheme, layout) };
        let t = Instant::now();
        quantize(&src, &dst, &options, Callbacks::default()).unwrap();
        println!("{scheme} quantize {:.2}s", t.elapsed().as_secs_f64());
        let name = "model.layers.0.mlp.gate_proj.weight";
        let n = 4096 * 14336usize;
        let mut out = vec![bf16::default(); n];
        for threads in [1, 2] {
            let c = Checkpoint::open(&dst).unwrap().with_threads(threads);
            let s = best(|| c.read(name, &mut out).unwrap());
            println!("  read {threads} threads: {:.2} Gelem/s {:.1} ms", n as f64 / s / 1e9, s * 1e3);
            let mut bytes = vec![0u8; 2 * n];
            let s = best(|| c.read_bytes(name, DType::BFloat16, &mut bytes).unwrap());
            println!("  read_bytes {threads} threads: {:.2} Gelem/s {:.1} ms", n as f64 / s / 1e9, s * 1e3);
        }
        let of = match scheme {
            QuantScheme::Mxfp4 => Scheme::MX.with_element(DType::Float4E2M1FN),
            QuantScheme::Fp8Block => Scheme::FP8_BLOCK128,
            QuantScheme::Nvfp4 => Scheme::NVFP4,
            _ => continue,
        };
        let plan = ScaledPlan::new(DType::Float32, &of, &[14336, 4096]).unwrap();
        let values: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 / 100.0 - 3.0).collect();
        let mut q = plan.alloc();
        plan.quantize(&values[..], &mut q).unwrap();
        let plan = plan.with_output(Encoding::new(DType::BFloat16));
        let mut bytes = vec![0u8; 2 * n];
        let s = best(|| plan.dequantize(&q, BytesMut::new(&mut bytes, n)).unwrap());
        println!("  scaled in memory, 1 thread: {:.2} Gelem/s {:.1} ms", n as f64 / s / 1e9, s * 1e3);
    }
}
