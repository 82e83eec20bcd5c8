/** Saving the form on the server, copying it and extending it. */

import * as dialogs from "./dialogs.js";
import { about } from "./page.js";
import { post } from "./server.js";
import { gettext, ngettext } from "./texts.js";
import * as tree from "./tree.js";

const KEPT = 30 * 24 * 3600 * 1000; // milliseconds

export class Saving {
  remember(form, revision) {
    this.saved = { form, revision, text: this.text(form) };
  }

  text(form) {
    return JSON.stringify([form.name, form.language, this.structure(form)]);
  }

  // --- the copy in this browser: jobsite/admin.js removes it at the sign-out ---

  get nameOfCopy() {
    return `unsaved:${this.root.dataset.user}:${location.pathname}`;
  }

  /** Keep what is not saved yet, for the case that the window is closed. */
  keep() {
    const { name, language } = this.form;
    const copy = { at: Date.now(), revision: this.saved.revision, form: { name, language, structure: this.structure() } };
    try {
      if (this.isDirty() && !this.isLeaving) localStorage.setItem(this.nameOfCopy, JSON.stringify(copy));
      else localStorage.removeItem(this.nameOfCopy);
    } catch {
      // no room: the page still asks before it is left
    }
  }

  /** Show the kept changes, as one step that can be undone. A later save of somebody else is a conflict. */
  restore() {
    let copy = null;
    try {
      copy = JSON.parse(localStorage.getItem(this.nameOfCopy));
    } catch {
      // not ours
    }
    if (!copy || !this.canChange || !(copy.at > Date.now() - KEPT)) return;
    const form = tree.readForm(copy.form, this.kinds);
    if (this.text(form) === this.saved.text) return localStorage.removeItem(this.nameOfCopy);
    this.state.change(form, { select: null });
    this.saved.revision = copy.revision;
    this.notes.toast(gettext("Unsaved changes were restored."), () => this.state.undo());
  }

  isDirty() {
    return this.form !== this.saved.form && this.text(this.form) !== this.saved.text;
  }

  async save({ lost = [] } = {}) {
    if (!this.canChange || this.isSaving) return;
    if (!this.isDirty()) return this.notes.say(gettext("Nothing to save"));
    if (!(await this.mayChangeForAll())) return;
    const { form } = this;
    const { name, language } = form;
    const body = { structure: this.structure(form), revision: this.saved.revision, name, language, lost };
    this.isSaving = true;
    this.bar.show();
    const reply = await this.attempt(() => post(this.data.urls.save, body));
    this.isSaving = false;
    this.bar.show();
    if (!reply) return;
    const { status, answer } = reply;
    if (status === 200) {
      this.takeOver(form, answer);
    } else if (answer.conflict) {
      if (await dialogs.explainConflict(this, answer.conflict)) await this.copy(this.data.user?.id);
    } else if (answer.lost) {
      if (await dialogs.confirmLoss(this, answer)) await this.save({ lost: answer.lost });
    } else {
      this.wasTried = true;
      this.setFaults(answer.faults, form);
      this.check({ now: true }); // with a wrong name, the server does not check the structure
      const { length } = Object.keys(answer.faults);
      this.notes.say(ngettext("Not saved: %(count)s error", "Not saved: %(count)s errors", length));
      this.showNextErrorFromTop();
    }
  }

  showNextErrorFromTop() {
    this.state.select(null);
    this.showNextError();
  }

  /** Take over the saved form from the server. Keep what was typed in the meantime. */
  takeOver(sent, { form, use, translations, frozen }) {
    const adopted = tree.adopt(sent, tree.readForm(form, this.kinds));
    this.frozen = new Set(frozen);
    this.remember(adopted, form.revision);
    this.wasTried = false;
    if (this.form === sent) {
      this.state.adopt(adopted);
      if (this.text(adopted) !== this.text(sent)) this.changed(adopted, sent);
      if (!this.schema) this.check({ now: true });
    }
    this.keep();
    Object.assign(this.data, { use, translations });
    this.about.replaceChildren(...about(this));
    this.setFaults({}, this.form);
    this.tree.render({ all: true });
    this.bar.show();
    this.notes.say(gettext("Saved, version %(revision)s", { revision: form.revision }));
  }

  /** Warn once before changing a form that other vacancies use. */
  async mayChangeForAll() {
    const { use, user } = this.data;
    const isOwn = !use.total || (use.total === 1 && use.some[0]?.url === user?.url);
    if (this.wasWarned || isOwn) return true;
    const answer = await dialogs.askForWhom(this);
    if (answer === "copy") await this.copy(user.id);
    this.wasWarned = answer === "all";
    return this.wasWarned;
  }

  /** Return the reply of `request`. On failure, show an error and return null. */
  async attempt(request) {
    try {
      return await request();
    } catch (failure) {
      await dialogs.explainFailure(this, failure);
      return null;
    }
  }

  async derive(url, body) {
    const reply = await this.attempt(() => post(url, body));
    if (reply?.status === 200) {
      this.isLeaving = true;
      location.assign(reply.answer.url);
    } else if (reply) {
      this.wasTried = true;
      this.setFaults(reply.answer.faults, this.form);
      this.showNextErrorFromTop();
    }
  }

  copy(user = null) {
    return this.derive(this.data.urls.copy, { structure: this.structure(), language: this.form.language, for: user });
  }

  async extend() {
    if (this.isDirty()) {
      if (await dialogs.confirmSaving(this)) await this.save();
      if (this.isDirty()) return;
    }
    await this.derive(this.data.urls.extend, { for: this.data.user.id });
  }
}
