// The board: moves cards without loading the page again, by their forms and by drag and drop. The server decides;
// without this script, the forms do the same. Moves that need a confirmation are always posted as a page.
(() => {
  const board = document.querySelector(".board-columns");
  const status = document.querySelector("[data-board-status]");
  if (!board || !status || !board.querySelector(".board-move")) return;

  const say = (text, isWrong, result) => {
    status.classList.toggle("is-wrong", isWrong);
    status.replaceChildren();
    requestAnimationFrame(() => { // an equal text is read again
      status.append(text);
      if (!result.undo) return;
      const link = document.createElement("a");
      Object.assign(link, { href: result.undo, textContent: result.undo_label, className: "text-link" });
      status.append(" ", link);
    });
  };

  const columnOf = (element) => element.closest("[data-stage]");
  const count = (column, change) => {
    const shown = column.querySelector("[data-count]");
    shown.textContent = Number(shown.textContent) + change;
  };

  const place = (card, column, applications) => {
    const before = columnOf(card);
    const form = card.querySelector(".board-move");
    form.applications.value = applications;
    form.stage.value = "";
    if (before === column) return;
    column.querySelector("[data-cards]").prepend(card);
    count(before, -1);
    count(column, 1);
  };

  const move = async (card, column) => {
    const form = card.querySelector(".board-move");
    if (columnOf(card) === column || card.classList.contains("is-moving")) return;
    form.stage.value = column.dataset.stage;
    if (column.hasAttribute("data-decides")) {
      form.submit(); // shows the page that asks for a confirmation
      return;
    }
    card.classList.add("is-moving");
    try {
      const response = await fetch(form.action, {
        method: "POST",
        body: new FormData(form),
        headers: { Accept: "application/json" },
        redirect: "error",
      });
      if (!(response.headers.get("Content-Type") || "").startsWith("application/json")) throw new Error();
      const result = await response.json();
      if (response.ok) {
        place(card, column, result.applications);
        form.stage.focus();
      }
      say(`${card.dataset.name}: ${result.message}`, !response.ok, result);
    } catch {
      form.submit(); // signed out, or the server failed: the page says what happened
    } finally {
      card.classList.remove("is-moving");
    }
  };

  board.addEventListener("submit", (event) => {
    const form = event.target.closest(".board-move");
    const column = board.querySelector(`[data-stage="${CSS.escape(form.stage.value)}"]`);
    if (!column || column.hasAttribute("data-decides")) return; // the browser posts the form
    event.preventDefault();
    move(form.closest("[data-card]"), column);
  });

  let dragged = null;
  board.addEventListener("dragstart", (event) => {
    dragged = event.target.closest("[data-card]");
    if (dragged) event.dataTransfer.effectAllowed = "move";
  });
  board.addEventListener("dragend", () => {
    dragged = null;
    board.querySelectorAll(".is-target").forEach((each) => each.classList.remove("is-target"));
  });
  board.addEventListener("dragover", (event) => {
    const column = columnOf(event.target);
    board.querySelectorAll(".is-target").forEach((each) => each.classList.toggle("is-target", each === column));
    if (!dragged || !column) return;
    event.preventDefault();
    column.classList.add("is-target");
  });
  board.addEventListener("drop", (event) => {
    const column = columnOf(event.target);
    if (!dragged || !column) return;
    event.preventDefault();
    move(dragged, column);
  });
})();
