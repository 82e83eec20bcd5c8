// The board: moves cards without loading the page again, by their menus, by dragging, and by keys: arrows go from card
// to card, and with Shift they move the card. The server decides; without this script, the menus do the same. Moves
// that need a confirmation are always posted as a page.
(() => {
  const board = document.querySelector(".board-columns");
  const status = document.querySelector("[data-board-status]");
  if (!board || !status || !board.querySelector(".board-move")) return;

  const say = (text, isWrong, result) => {
    status.classList.toggle("is-wrong", isWrong);
    status.replaceChildren();
    requestAnimationFrame(() => { // an equal text is read again
      status.append(text);
      if (!result.undo && !result.back) return;
      const link = document.createElement(result.undo ? "a" : "button");
      Object.assign(link, { textContent: result.undo_label, className: "text-link" });
      if (result.undo) link.href = result.undo;
      else link.addEventListener("click", result.back);
      status.append(" ", link);
    });
  };

  let isPosting = false; // as a page, not by this script
  const columnOf = (element) => element.closest("[data-stage]");
  const count = (column, change) => {
    const shown = column.querySelector("[data-count]");
    shown.textContent = Number(shown.textContent) + change;
    const stage = document.querySelector(`[data-stage-count="${CSS.escape(column.dataset.stage)}"]`); // in the head
    if (!stage) return;
    stage.lastElementChild.textContent = shown.textContent;
    stage.hidden = shown.textContent === "0";
  };

  const place = (card, column, applications) => {
    const before = columnOf(card);
    const form = card.querySelector(".board-move");
    form.applications.value = applications;
    if (before === column) return;
    column.querySelector("[data-cards]").prepend(card);
    count(before, -1);
    count(column, 1);
  };

  const move = async (card, column) => {
    const form = card.querySelector(".board-move");
    const before = columnOf(card);
    if (before === column || card.classList.contains("is-moving")) return;
    const post = () => form.requestSubmit(form.querySelector(`[value="${column.dataset.stage}"]`));
    if (column.hasAttribute("data-decides")) return post(); // shows the page that asks for a confirmation
    const body = new FormData(form);
    body.append("stage", column.dataset.stage);
    card.classList.add("is-moving");
    try {
      const response = await fetch(form.action, {
        method: "POST",
        body,
        headers: { Accept: "application/json" },
        redirect: "error",
      });
      if (!(response.headers.get("Content-Type") || "").startsWith("application/json")) throw new Error();
      const result = await response.json();
      if (response.ok) {
        place(card, column, result.applications);
        // without a delay the applicant sees both moves: the card goes back
        result.back = () => move(card, before);
        card.querySelector(".board-name").focus();
      }
      say(`${card.dataset.name}: ${result.message}`, !response.ok, result);
    } catch {
      isPosting = true; // signed out, or the server failed: the page says what happened
      post();
    } finally {
      card.classList.remove("is-moving");
    }
  };

  board.addEventListener("submit", (event) => {
    const form = event.target.closest(".board-move");
    const column = board.querySelector(`[data-stage="${CSS.escape(event.submitter.value)}"]`);
    if (isPosting || !column || column.hasAttribute("data-decides")) return; // the browser posts the form
    event.preventDefault();
    form.closest("details").open = false;
    move(form.closest("[data-card]"), column);
  });

  const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  board.addEventListener("keydown", (event) => {
    const card = event.target.matches(".board-name") && event.target.closest("[data-card]");
    const [across, down] = ARROWS[event.key] ?? [];
    if (!card || down === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const all = Array.from(board.querySelectorAll("[data-stage]"));
    const column = all[all.indexOf(columnOf(card)) + across];
    if (event.shiftKey) {
      if (across && column) move(card, column);
      return;
    }
    const place = Array.from(card.parentElement.children).indexOf(card);
    const cards = column?.querySelectorAll(".board-name") ?? [];
    const wanted = cards[Math.min(Math.max(place + down, 0), cards.length - 1)];
    wanted?.focus();
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
