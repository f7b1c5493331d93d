// The arrows of the contents have no words of their own for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("summary:has(.toctree-toggle)")) arrow.setAttribute("aria-label", "Pages below");
});
