//! The limits of the machine, and what is contiguous.

use lanecast::DType;

use super::{Storage, Value, Values, View};

fn read(pickle: &[u8]) -> Result<Values, String> {
    Values::read(&mut &pickle[..]).map_err(|e| e.to_string())
}

#[test]
fn values_are_data() {
    // {"a": (1, -2, 300, None, True, 2**40), "b": [ ]}, which is remembered and taken again.
    let pickle = b"\x80\x02}q\x00(X\x01\0\0\0a(K\x01J\xfe\xff\xff\xffM\x2c\x01N\x88\x8a\x06\0\0\0\0\0\x01tX\x01\0\0\0b]u0h\x00.rest";
    let values = read(pickle).expect("values");
    assert_eq!(values.bytes, pickle.len() as u64 - 4);
    let Value::Dict(entries) = values.get(values.root()) else { panic!("a dictionary") };
    let [(a, tuple), (_, list)] = entries[..] else { panic!("two entries") };
    assert!(matches!(values.get(a), Value::Text(key) if key == "a"));
    let Value::Tuple(items) = values.get(tuple) else { panic!("a tuple") };
    let shown: Vec<String> = items.iter().map(|item| format!("{:?}", values.get(*item))).collect();
    assert_eq!(shown, ["Int(1)", "Int(-2)", "Int(300)", "None", "Bool(true)", "Int(1099511627776)"]);
    assert!(matches!(values.get(list), Value::List(items) if items.is_empty()));
}

#[test]
fn integers_have_any_length() {
    let int = |bytes: &[u8]| {
        let pickle = [&b"\x80\x02\x8a"[..], &[bytes.len() as u8], bytes, b"."].concat();
        let values = read(&pickle).expect("a value");
        format!("{:?}", values.get(values.root()))
    };
    assert_eq!([int(&[]), int(&[0xFF]), int(&[0xFF, 0])], ["Int(0)", "Int(-1)", "Int(255)"]);
    assert_eq!(int(&i64::MIN.to_le_bytes()), format!("Int({})", i64::MIN));
    assert_eq!(int(&[1; 9]), "Other(\"an integer of more than 64 bits\")");
}

#[test]
fn pushes_and_memos_have_limits() {
    // A value that is fetched again and again.
    let fetches = [&b"\x80\x02Nq\x00"[..], &b"h\x00".repeat((1 << 24) + 1), b"."].concat();
    assert!(read(&fetches).expect_err("a limit").contains("pushes more than"));
    let marks = [&b"\x80\x02"[..], &vec![b'('; (1 << 24) + 1], b"."].concat();
    assert!(read(&marks).expect_err("a limit").contains("pushes more than"));
    let memos = [&b"\x80\x04N"[..], &vec![0x94; (1 << 22) + 1], b"."].concat();
    assert!(read(&memos).expect_err("a limit").contains("remembers more than"));
    let skipped = [&b"\x80\x04B"[..], &(u32::MAX).to_le_bytes(), b"."].concat();
    assert!(read(&skipped).expect_err("a limit").contains("more than 67108864 bytes"));
}

#[test]
fn views_are_contiguous_where_their_axes_are_longer_than_one() {
    let view = |shape: &[usize], strides: &[usize]| View {
        storage: Storage { key: "0".to_owned(), dtype: Some(DType::Float32), elements: 24 },
        dtype: DType::Float32,
        offset: 0,
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    };
    for (shape, strides) in [(&[2, 3][..], &[3, 1][..]), (&[1, 3], &[99, 1]), (&[], &[]), (&[0, 3], &[7, 7])]
    {
        assert!(view(shape, strides).is_contiguous(), "{shape:?} {strides:?}");
    }
    for (shape, strides) in [(&[2, 3][..], &[1, 2][..]), (&[2], &[2]), (&[2, 3], &[4, 1])] {
        assert!(!view(shape, strides).is_contiguous(), "{shape:?} {strides:?}");
    }
    assert_eq!((view(&[2, 3], &[4, 1]).span(), view(&[2], &[usize::MAX]).span()), (Some(7), None));
}
