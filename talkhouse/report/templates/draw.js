// Draws each chart into its figure. Colours of text and lines are those of the page, so that they follow its scheme.
const text = "currentColor";
const grid = "rgba(128, 128, 128, 0.3)";
const config = {
  background: null,
  font: "system-ui, sans-serif",
  aria: false,
  view: { stroke: null },
  axis: {
    labelColor: text, titleColor: text, domainColor: grid, tickColor: grid, gridColor: grid,
    labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, labelLimit: 190,
  },
  legend: { labelColor: text, titleColor: text, labelFontSize: 11, gradientStrokeColor: null },
  // Paul Tol's bright scheme, then his light one: told apart with any vision of colours, on white and on black.
  range: {
    category: [
      "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
      "#ee8866", "#44bb99", "#ffaabb", "#bbcc33", "#77aadd", "#aaaa00", "#999999",
    ],
  },
};
const options = { mode: "vega-lite", renderer: "svg", actions: false, defaultStyle: false, tooltip: { theme: "page" }, config };
const drawings = JSON.parse(document.getElementById("drawings").textContent);
for (const [id, drawing] of Object.entries(drawings)) {
  const place = document.querySelector(`[data-drawing="${id}"]`);
  vegaEmbed(place, drawing, options).catch((error) => {
    place.textContent = `This chart can't be drawn: ${error}`;
  });
}
