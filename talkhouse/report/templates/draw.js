// Draws each chart into its figure.
const drawings = JSON.parse(document.getElementById("drawings").textContent);
const options = { mode: "vega", renderer: "svg", actions: false, defaultStyle: false, tooltip: { theme: "page" } };
for (const [id, drawing] of Object.entries(drawings)) {
  const place = document.querySelector(`[data-drawing="${id}"]`);
  vegaEmbed(place, drawing, options).catch((error) => {
    place.textContent = `This chart can't be drawn: ${error}`;
  });
}
