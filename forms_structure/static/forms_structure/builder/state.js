/** The state of the builder: the form, the selection, undo and redo. */

const STEPS_MAX = 300;

export class State {
  /** `onChange(form, before)` is called after every change of the form, `onSelect` after one of the selection. */
  constructor(form, { onChange, onSelect }) {
    Object.assign(this, { form, onChange, onSelect, selected: null, past: [], future: [], run: null });
  }

  /**
   * Make `form` the form. With `run` (what is being typed, where) it joins the step before it if that had the same
   * one, so that typing is undone by the text rather than by the letter.
   */
  change(form, { run = null, select = this.selected } = {}) {
    if (form === this.form) return;
    if (!run || run !== this.run) {
      this.past.push({ form: this.form, selected: this.selected });
      this.past.splice(0, this.past.length - STEPS_MAX);
    }
    this.future = [];
    this.run = run;
    this.go({ form, selected: select });
  }

  undo() {
    this.travel(this.past, this.future);
  }
  redo() {
    this.travel(this.future, this.past);
  }

  travel(from, to) {
    const there = from.pop();
    if (!there) return;
    to.push({ form: this.form, selected: this.selected });
    this.run = null;
    this.go(there);
  }

  go({ form, selected }) {
    const before = this.form;
    const moved = selected !== this.selected;
    Object.assign(this, { form, selected });
    this.onChange(form, before);
    if (moved) this.onSelect(selected);
  }

  select(id) {
    if (id === this.selected) return;
    this.selected = id;
    this.run = null;
    this.onSelect(id);
  }

  /** Take over the form as the server stored it. This is not a separate undo step. */
  adopt(form) {
    this.form = form;
    this.run = null;
  }
}
