// Runs before the first paint, so that the page does not flash in the wrong colours.
(() => {
  try {
    const chosen = localStorage.getItem("fathom.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the system's setting applies.
  }
})();
