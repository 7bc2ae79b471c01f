// Draws each chart into its figure. Vega reads its expressions as syntax trees, for the page may not make code of text.
const drawings = JSON.parse(document.getElementById("drawings").textContent);
const tooltip = { theme: "page", disableDefaultStyle: true };
const options = { mode: "vega", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip };
for (const [id, drawing] of Object.entries(drawings)) {
  const place = document.querySelector(`[data-drawing="${id}"]`);
  vegaEmbed(place, drawing, options).catch((error) => {
    place.textContent = `This chart can't be drawn: ${error}`;
  });
}
