// The records, and figures by pair. A record holds columns: a figure per cast, by tier and size.

const SIZES = {
  l1: { name: "L1", long: "24 KiB, in the first cache" },
  l2: { name: "L2", long: "512 KiB, in the second cache" },
  dram: { name: "Memory", long: "larger than the last cache" },
  n1: { name: "1", long: "a call of 1 element", small: true },
  n7: { name: "7", long: "a call of 7 elements", small: true },
  n64: { name: "64", long: "a call of 64 elements", small: true },
  n255: { name: "255", long: "a call of 255 elements", small: true },
};
const TIERS = ["scalar", "avx2", "avx512", "neon", "wasm128"];
const MODES = { saturate: "saturate", wrap: "wrap", overflow: "to infinity or NaN" };

/** A record with what the page looks up often. */
function prepare({ name, record }) {
  const pairs = new Map();
  record.casts.forEach(([from, to, mode, kind, standard], at) => {
    const key = `${from}:${to}`;
    if (!pairs.has(key)) pairs.set(key, []);
    pairs.get(key).push({ at, from, to, mode, kind, standard: standard === 1 });
  });
  const blocks = new Map(record.blocks.map((block) => [`${block.tier}/${block.size}`, block]));
  const tiers = TIERS.filter((tier) => record.blocks.some((block) => block.tier === tier));
  const sizes = Object.keys(SIZES).filter((size) => record.blocks.some((block) => block.size === size));
  const labels = record.types.map((type) => (type.packed ? `${type.name}/packed` : type.name));
  const ready = { name, record, pairs, blocks, tiers, sizes, labels };
  ready.peers = peersByCast(record);
  ready.optionNames = [...new Set(record.options.map(({ option }) => option))].sort();
  ready.options = new Map();
  for (const { tier, option, at, ratio } of record.options) {
    at.forEach((cast, k) => {
      const key = `${tier}/${cast}`;
      if (!ready.options.has(key)) ready.options.set(key, []);
      ready.options.get(key).push({ option, ratio: ratio[k] });
    });
  }
  return ready;
}

/** `tier/size/cast` to its peers, the fastest first. */
function peersByCast(record) {
  const all = new Map();
  for (const { peer, tier, at, sizes } of record.peers) {
    for (const [size, { ns, ratio, differing = [] }] of Object.entries(sizes)) {
      at.forEach((cast, k) => {
        if (ratio[k] === null) return;
        const key = `${tier}/${size}/${cast}`;
        if (!all.has(key)) all.set(key, []);
        all.get(key).push({ peer, ns: ns[k], ratio: ratio[k], differing: differing[k] ?? null });
      });
    }
  }
  for (const list of all.values()) list.sort((a, b) => a.ratio - b.ratio);
  return all;
}

/** The cast of a pair that the chosen mode stands for; a pair without that mode has its only one. */
function castOf(data, from, to, mode) {
  const casts = data.pairs.get(`${from}:${to}`);
  if (!casts) return null;
  return casts.find((cast) => cast.mode === mode) ?? casts.find((cast) => cast.standard) ?? casts[0];
}

/** All that is known of a cast on a tier at a size; null if it was not measured. */
function figures(data, cast, tier, size) {
  const block = cast && data.blocks.get(`${tier}/${size}`);
  const ns = block?.ns[cast.at] ?? null;
  if (ns === null) return null;
  const bits = data.record.types[cast.from].bits + data.record.types[cast.to].bits;
  const peers = data.peers.get(`${tier}/${size}/${cast.at}`) ?? [];
  return {
    ns,
    fraction: block.fraction?.[cast.at] ?? null,
    streaming: block.streaming?.[cast.at] ?? null,
    target: block.targets?.[cast.kind] ?? null,
    gbps: SIZES[size].small ? null : bits / 8 / ns,
    peers,
    ratio: peers[0]?.ratio ?? null,
    memcpy: copyTime(block, size, bits),
  };
}

/** Nanoseconds of a copy of as many bytes, for small calls. */
function copyTime(block, size, bits) {
  if (!SIZES[size].small) return null;
  const bytes = (Number(size.slice(1)) * bits) / 8;
  const near = block.memcpy.filter(([of]) => Math.abs(of - bytes) <= 1);
  return near.length ? near[0][1] : null;
}

// What a cell of the map shows. `scale` is a colour scale of colour.js.
const METRICS = {
  fraction: {
    name: "Fraction of the limit",
    scale: "fraction",
    of: (f) => f.fraction,
    text: (value) => String(Math.round(100 * value)),
    say: (value) => `${Math.round(100 * value)} % of the limit`,
    better: 1,
    small: false,
  },
  ratio: {
    name: "Best peer",
    scale: "ratio",
    of: (f) => f.ratio,
    text: (value) => digits(value, 2),
    say: (value) => `${digits(value, 3)} times as fast as the best peer`,
    better: 1,
    small: true,
  },
  ns: {
    name: "Time",
    scale: "time",
    of: (f) => f.ns,
    text: (value) => digits(value, 2).replace(/^0\./, "."),
    say: (value, size) => `${digits(value, 3)} ns per ${SIZES[size].small ? "call" : "element"}`,
    better: -1,
    small: true,
  },
};

/** A number with some significant digits and no exponent. */
function digits(value, count) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(count));
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toFixed(Math.min(places, 6));
}

const median = (sorted) => (sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : NaN);
const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const percent = (value, count = 0) => (value === null ? "–" : `${(100 * value).toFixed(count)} %`);

/** Text as it may stand in HTML. */
function escape(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}
