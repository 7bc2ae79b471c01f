// Draws each chart into its figure.
const drawings = JSON.parse(document.getElementById("drawings").textContent);
// Pixels of a column of a legend.
const PER_COLUMN = 150;
const options = { mode: "vega", renderer: "svg", actions: false, defaultStyle: false, tooltip: { theme: "page" } };
for (const [id, drawing] of Object.entries(drawings)) {
  const place = document.querySelector(`[data-drawing="${id}"]`);
  for (const legend of drawing.legends ?? []) {
    legend.columns = Math.max(1, Math.floor(place.clientWidth / PER_COLUMN));
  }
  vegaEmbed(place, drawing, options).catch((error) => {
    place.textContent = `This chart can't be drawn: ${error}`;
  });
}
