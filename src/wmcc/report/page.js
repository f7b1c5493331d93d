"use strict";
// Everything shown for each ε was computed when the page was made; this picks what belongs to the slider's place.
(() => {
  const slider = document.getElementById("eps");
  if (!slider) return;
  const grid = JSON.parse(document.getElementById("grid").textContent);
  const show = () => {
    const i = Number(slider.value);
    slider.setAttribute("aria-valuetext", grid.eps[i]);
    document.getElementById("eps-now").textContent = grid.said[i];
    document.querySelectorAll(".eps-shown").forEach((place) => { place.textContent = grid.eps[i]; });
    const cursor = document.getElementById("cursor");
    cursor.setAttribute("x1", grid.x[i]);
    cursor.setAttribute("x2", grid.x[i]);
    grid.bands.forEach((band, k) => {
      if (!band) return;
      const outline = band.upper.slice(0, i + 1).concat(band.lower.slice(0, i + 1).reverse());
      document.getElementById(`band-${k}`).setAttribute("points", outline.join(" "));
      document.getElementById(`range-${k}`).textContent = band.ranges[i];
    });
  };
  slider.addEventListener("input", show);
  addEventListener("pageshow", show); // a browser that goes back puts the slider where it was, after this script ran
})();
