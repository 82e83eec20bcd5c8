/** The errors of the form, as the server reports them. */

import { icon } from "./dom.js";
import { Failure, post } from "./server.js";
import { Saving } from "./saving.js";
import { gettext, quoted } from "./texts.js";
import * as tree from "./tree.js";

export class Validation extends Saving {
  faultsAt(node) {
    const faults = [...(this.faults.get(node.id) ?? [])];
    // An empty input of a new node is not an error until the first save.
    const isNew = !this.wasTried && this.isAt(node.id);
    return isNew ? faults.filter(([key]) => node[key] !== "") : faults;
  }

  isAt(id) {
    const { selected } = this.state;
    return selected === id || Boolean(selected && this.node(selected)?.children.some((child) => child.id === id));
  }

  faultsBelow(node) {
    return [...tree.walk(node)].slice(1).reduce((sum, each) => sum + this.faultsAt(each).length, 0);
  }

  /** Show `faults`, by path in `form`. */
  setFaults(faults, form) {
    this.faults = new Map();
    for (const [path, text] of Object.entries(faults)) {
      const { id, key } = tree.locate(form, path);
      const message = text.replace(/sections\.\d+(\.\w+)*/g, (at) => {
        const there = tree.find(form, tree.locate(form, at).id);
        return there.kind === "form" ? gettext("the form") : quoted(this.nameOf(there));
      });
      this.faults.set(id, new Map(this.faults.get(id)).set(key, message));
    }
    this.tree.render({ all: true });
    this.showFaults();
  }

  /** Show why the form cannot accept applications, if it cannot. */
  warn(text) {
    this.warning.hidden = !text;
    if (this.warning.textContent !== text) this.warning.replaceChildren(...(text ? [icon("warning"), text] : []));
  }

  showFaults() {
    const count = [...tree.walk(this.form)].reduce((sum, node) => sum + this.faultsAt(node).length, 0);
    this.bar.showFaults(this.faults, count);
  }

  /** Go to the next error after the selected row, from the end to the first one. */
  showNextError() {
    const all = [...tree.walk(this.form)];
    const wrong = all.filter((node) => node.kind !== "form" && this.faultsAt(node).length);
    if (!wrong.length) return this.bar.name.focus();
    const at = all.findIndex(({ id }) => id === this.state.selected);
    const next = wrong.find((node) => all.indexOf(node) > at && !this.isAt(node.id)) ?? wrong[0];
    const home = next.kind === "choice" ? tree.pathTo(this.form, next.id).at(-2) : next;
    this.goTo(home.id, "row");
    const input = [...this.root.querySelectorAll(".is-selected [aria-invalid=true]")].find(
      (each) => each.closest("[data-id]").dataset.id === next.id,
    );
    return input?.focus();
  }

  /** Request the errors, `now` or when nothing changes for a while. `data-checking` marks a pending request. */
  check({ now = false } = {}) {
    this.questions += 1;
    this.root.dataset.checking = "";
    if (now) this.askForFaults();
    else this.askSoon();
  }

  /** Request the errors and the JSON Schema. Failures of the server are ignored here. */
  async askForFaults() {
    const { form, questions } = this;
    const structure = this.structure(form);
    try {
      const { status, answer } = await post(this.data.urls.check, { structure, language: form.language });
      if (this.text(form) !== this.text(this.form)) return; // a newer request follows
      if (status === 200) {
        this.schema = answer.schema;
        this.refreshPreview();
      }
      this.warn(answer.warning ?? ""); // unknown while there are errors
      const own = [...(this.faults.get(form.id) ?? [])].filter(([key]) => key === "name" || key === "language");
      this.setFaults({ ...Object.fromEntries(own), ...answer.faults }, form);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
    } finally {
      if (questions === this.questions) delete this.root.dataset.checking;
    }
  }
}
