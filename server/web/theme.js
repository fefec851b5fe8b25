// Runs before the page is painted, so that nobody sees the wrong colours first.
(() => {
  try {
    const chosen = localStorage.getItem("fathom.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the system's choice stands.
  }
})();
