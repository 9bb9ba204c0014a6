// Colour scales. On every colour, text is black or white, whichever has the greater contrast: that is at least 4.58 for any colour.

const VIRIDIS = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
// Orange over grey to blue: told apart without red and green.
const DIVERGING = [[166, 78, 9], [232, 143, 54], [236, 218, 196], [190, 213, 232], [92, 153, 203], [23, 84, 141]];

const SCALES = {
  /** A fraction from 0 to 1. */
  fraction: { points: VIRIDIS, place: (value) => value, marks: [0, 0.25, 0.5, 0.75, 1].map((v) => [v, `${100 * v} %`]) },
  /** A ratio, by its logarithm: 1 is in the middle, and the ends are 1/4 and 16. */
  ratio: {
    points: DIVERGING,
    place: (value) => (value < 1 ? 0.5 + Math.log2(value) / 4 : 0.5 + Math.log2(value) / 8),
    marks: [[0.25, "1/4"], [0.5, "1/2"], [1, "as fast"], [2, "2 ×"], [4, "4 ×"], [16, "16 ×"]],
  },
  /** Nanoseconds per element from 0.01 to 1, by their logarithm; less time is brighter. */
  time: {
    points: [...VIRIDIS].reverse(),
    place: (value) => (Math.log10(value) + 2) / 2,
    marks: [[0.01, "0.01 ns"], [0.1, "0.1"], [1, "1 ns"]],
  },
  /** Nanoseconds per call from 2 to 200. */
  call: {
    points: [...VIRIDIS].reverse(),
    place: (value) => Math.log10(value / 2) / 2,
    marks: [[2, "2 ns"], [20, "20"], [200, "200 ns"]],
  },
  /** The time with an option divided by the time without, from one to four; less time is brighter. */
  option: {
    points: [...VIRIDIS].reverse(),
    place: (value) => Math.log2(value) / 2,
    marks: [[1, "as fast"], [1.5, "1.5 ×"], [2, "2 ×"], [4, "4 ×"]],
  },
  /** A ratio of times near one, to one and a half. */
  near: {
    points: [...VIRIDIS].reverse(),
    place: (value) => Math.log2(value) / Math.log2(1.5),
    marks: [[1, "as fast"], [1.1, "1.1 ×"], [1.25, "1.25 ×"], [1.5, "1.5 ×"]],
  },
  /** A ratio of times from one to 16. */
  far: {
    points: [...VIRIDIS].reverse(),
    place: (value) => Math.log2(value) / 4,
    marks: [[1, "as fast"], [2, "2 ×"], [4, "4 ×"], [16, "16 ×"]],
  },
  /** How many times as fast as one thread, to four; more is brighter. */
  speedup: {
    points: VIRIDIS,
    place: (value) => Math.log2(value) / 2,
    marks: [[1, "as fast"], [1.5, "1.5 ×"], [2, "2 ×"], [4, "4 ×"]],
  },
  /** The time on another machine divided by the time here, from a quarter to four. */
  other: {
    points: DIVERGING,
    place: (value) => 0.5 + Math.log2(value) / 4,
    marks: [[0.25, "1/4"], [0.5, "1/2"], [1, "as fast"], [2, "2 ×"], [4, "4 ×"]],
  },
};

function linear(part) {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);

/** The colour of a value and the colour of text on it. */
function colour(name, value) {
  const { points, place } = SCALES[name];
  const at = Math.min(1, Math.max(0, place(value))) * (points.length - 1);
  const low = Math.min(Math.floor(at), points.length - 2);
  const rgb = points[low].map((part, k) => Math.round(part + (at - low) * (points[low + 1][k] - part)));
  const light = luminance(rgb);
  const white = 1.05 / (light + 0.05) > (light + 0.05) / 0.05;
  return { fill: `rgb(${rgb})`, ink: white ? "#fff" : "#000" };
}

/** The legend of a scale. */
function drawLegend(element, name, note) {
  const { marks, place } = SCALES[name];
  const steps = Array.from({ length: 41 }, (_, k) => k / 40);
  // The scale by places: the inverse of `place`, searched, because its marks are values.
  const value = (at) => {
    let [low, high] = [1e-4, 1e4];
    if (name === "fraction") return at;
    for (let k = 0; k < 60; k += 1) {
      const middle = Math.sqrt(low * high);
      if (place(middle) < at) low = middle;
      else high = middle;
    }
    return low;
  };
  const stops = steps.map((at) => `${colour(name, value(at)).fill} ${100 * at}%`).join(",");
  const labels = marks.map(([of, text]) => `<span style="left:${100 * place(of)}%">${text}</span>`).join("");
  element.innerHTML = `<div class="bar" aria-hidden="true" style="background:linear-gradient(90deg,${stops})"></div>
    <div class="marks" aria-hidden="true">${labels}</div><p>${note}</p>`;
}
