//! Every pair, storage and byte order through the interface gives what the library gives.

use lanecast::{ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Storage};
use lanecast_capi::*;
use std::ptr;

/// The type of a buffer, as a program in C writes it.
fn number(buffer: Encoding) -> lanecast_type {
    let packed = if buffer.storage() == Storage::Packed { LANECAST_TYPE_PACKED } else { 0 };
    let order = match buffer.order() {
        ByteOrder::Little => LANECAST_TYPE_LITTLE,
        ByteOrder::Big => LANECAST_TYPE_BIG,
    };
    u32::from(buffer.dtype().code()) | packed | order
}

fn buffers() -> Vec<Encoding> {
    let forms = |dtype: &DType| {
        let plain = Encoding::new(*dtype);
        [plain.with_order(ByteOrder::Little), plain.with_order(ByteOrder::Big), Encoding::packed(*dtype)]
    };
    let mut all: Vec<Encoding> = Vec::new();
    for buffer in DType::ALL.iter().flat_map(forms) {
        if !all.contains(&buffer) {
            all.push(buffer);
        }
    }
    all
}

const N: usize = 300;

#[test]
fn every_pair() {
    for (name, profile) in CastOptions::PROFILES {
        let mut options = lanecast_options::default();
        let name = format!("{name}\0");
        // SAFETY: a string that ends with 0 and a place for the result.
        let status =
            unsafe { lanecast_options_profile(name.as_ptr().cast(), &raw mut options, ptr::null_mut()) };
        assert_eq!(status, LANECAST_OK);
        for from in buffers() {
            let read = from.byte_len(N).expect("small");
            let src: Vec<u8> = (0..read).map(|i| (i * 37 + i / 256) as u8).collect();
            for to in buffers() {
                let mut want = vec![0; to.byte_len(N).expect("small")];
                CastPlan::new(from, to, profile)
                    .and_then(|plan| plan.run(Bytes::new(&src, N), BytesMut::new(&mut want, N)))
                    .expect("a cast");
                let mut got = vec![0xA5; want.len()];
                let mut bytes = 0;
                let mut plan = lanecast_plan { opaque: [0; 16] };
                // SAFETY: places and buffers of the lengths that the calls need.
                unsafe {
                    assert_eq!(lanecast_type_bytes(number(to), N, &raw mut bytes), LANECAST_OK);
                    let made = lanecast_plan_init(
                        &raw mut plan,
                        number(from),
                        number(to),
                        &raw const options,
                        ptr::null_mut(),
                    );
                    assert_eq!(made, LANECAST_OK, "{from} -> {to}");
                    let (src, dst) = (src.as_ptr().cast(), got.as_mut_ptr().cast());
                    let ran = lanecast_run(&raw const plan, src, dst, N, ptr::null(), ptr::null_mut());
                    assert_eq!(ran, LANECAST_OK, "{from} -> {to}");
                }
                assert_eq!((&got, bytes), (&want, want.len()), "{from} -> {to}, {name}");
            }
        }
    }
}
