"use strict";
// Everything shown for each ε was computed when the page was made; this picks what belongs to the slider's place.
(() => {
  const slider = document.getElementById("eps");
  if (!slider) return;
  const grid = JSON.parse(document.getElementById("grid").textContent);
  const steps = { ArrowRight: 1, ArrowUp: 1, PageUp: 3, ArrowLeft: -1, ArrowDown: -1, PageDown: -3 };
  let i = 0;
  const show = (place) => {
    i = Math.max(0, Math.min(grid.at.length - 1, place));
    slider.value = grid.at[i];
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
  const nearest = () => {
    const off = grid.at.map((x) => Math.abs(x - slider.value));
    show(off.indexOf(Math.min(...off)));
  };
  slider.addEventListener("input", nearest);
  slider.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    show(i + steps[event.key]);
  });
  addEventListener("pageshow", nearest); // a browser that goes back puts the slider where it was, after this script ran
})();
