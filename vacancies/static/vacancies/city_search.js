// Typing the city of a place offers cities with their country, region and coordinates, as a combobox with a list
// (WAI-ARIA). A location whose text is a known city is offered as a place. Without this script, and for countries
// without a file of cities, all of it is typed.
window.addEventListener("load", () => {
  const data = document.getElementById("typing-aids");
  const group = document.getElementById("places-group");
  const form = document.getElementById("vacancy_form");
  if (!data || !form || !group?.querySelector("select")) return; // read-only
  const aids = JSON.parse(data.textContent);
  const _ = window.gettext || ((text) => text);
  const ngettext = window.ngettext || ((one, many, count) => (count === 1 ? one : many));
  const SHOWN = 8;
  const FILLED = ["locality", "country", "region", "latitude", "longitude"];

  // --- cities: the format is that of vacancies/facts/cities.py ---

  const SHORT = { saint: "st", sainte: "ste", fort: "ft", mount: "mt" };
  const keyOf = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}|['.]/gu, "")
    .split(/[^\p{L}\p{N}]+/u).filter(Boolean).map((word) => SHORT[word] || word).join(" ");

  const requests = {};
  const known = []; // of all files that are loaded
  const load = (country) => {
    requests[country] ||= fetch(aids.cities[country]).then((response) => response.json()).then((content) => {
      const cities = content.cities.map(([latitude, longitude, region, population, unique, ...names]) => ({
        country, latitude, longitude, population, unique, names,
        region: content.regions[region] || "", keys: names.map(keyOf),
      }));
      known.push(...cities);
      return cities;
    }).catch(() => {
      delete requests[country]; // offline: the next key tries again
      return [];
    });
    return requests[country];
  };
  const citiesOf = async (countries) => (await Promise.all(countries.map(load))).flat();
  const everywhere = Object.keys(aids.cities);

  /** Return the cities with a name that `matches`, with that name, the best known first. */
  const find = async (country, matches) => {
    const groups = country ? [[country].filter((each) => aids.cities[each])] : [aids.used, everywhere];
    for (const countries of groups) {
      const found = (await citiesOf(countries)).flatMap((city) => {
        const fitting = city.keys.flatMap((key, index) => (matches(key, index, city) ? [index] : []));
        if (!fitting.length) return [];
        // the usual name, else the shortest
        const index = fitting.reduce((best, other) => (best && city.keys[other].length < city.keys[best].length ? other : best));
        // another name of a large city after the usual name of a smaller one: Sint-Niklaas before Sint Pol (Saint Paul)
        const weight = city.population / (index ? 20 : 1);
        return [{ ...city, weight, name: city.names[index], key: city.keys[index] }];
      });
      if (found.length) return found.sort((one, other) => other.weight - one.weight);
    }
    return [];
  };

  // --- the inputs of a place ---

  const input = (city, name) => form.elements[city.name.replace(/locality$/, name)];
  const inputs = () => Array.from(group.querySelectorAll("input[name$=-locality]:not([name*=__prefix__])"));
  const isFilled = (city) => FILLED.some((name) => input(city, name).value.trim());
  const countryName = (code) =>
    form.elements["places-__prefix__-country"].querySelector(`option[value="${code}"]`)?.textContent || code;
  const described = (city) => [city.region, countryName(city.country)].filter(Boolean).join(", ");

  const fill = (city, found) => {
    for (const name of FILLED) {
      input(city, name).value = name === "locality" ? found.name : found[name];
    }
  };

  /** Remove coordinates that are those of another city of the list. */
  const clearIfMoved = async (city) => {
    await Promise.all(Object.values(requests));
    const [latitude, longitude] = ["latitude", "longitude"].map((name) => input(city, name));
    if (!latitude.value || !longitude.value) return;
    const at = known.filter((each) =>
      each.latitude === Number(latitude.value) && each.longitude === Number(longitude.value));
    const isThere = (each) =>
      each.country === input(city, "country").value && each.keys.includes(keyOf(city.value));
    if (!at.length || at.some(isThere)) return;
    for (const each of [latitude, longitude]) each.value = "";
    const region = input(city, "region");
    if (at.some((each) => each.region === region.value)) region.value = "";
    say(_("The coordinates were those of another city, and are removed."));
  };

  // --- the list ---

  const list = Object.assign(document.createElement("ul"), { id: "cities", className: "city-list", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", _("Cities"));
  const status = Object.assign(document.createElement("p"), { className: "sr-only" });
  status.setAttribute("role", "status");
  group.append(list, status); // outside the table, which cuts off what is larger
  const say = (text) => { status.textContent = text; };
  let [current, offered, active, asked] = [null, [], -1, 0];

  const activate = (index) => {
    active = index;
    Array.from(list.children).forEach((each, place) => each.setAttribute("aria-selected", String(place === index)));
    if (index < 0) current?.removeAttribute("aria-activedescendant");
    else {
      current.setAttribute("aria-activedescendant", list.children[index].id);
      list.children[index].scrollIntoView({ block: "nearest" });
    }
  };

  const close = () => {
    asked += 1;
    list.hidden = true;
    current?.setAttribute("aria-expanded", "false");
    activate(-1);
  };

  const place = () => {
    const [box, around] = [current.getBoundingClientRect(), group.getBoundingClientRect()];
    list.style.left = `${Math.max(0, Math.min(box.left - around.left, around.width - list.offsetWidth))}px`;
    const end = window.innerHeight - (document.getElementById("submit-row")?.offsetHeight || 0);
    const isBelow = box.bottom + list.offsetHeight < end || box.top < list.offsetHeight;
    list.style.top = `${(isBelow ? box.bottom + 4 : box.top - list.offsetHeight - 4) - around.top}px`;
  };

  const choose = (index) => {
    const found = offered[index];
    fill(current, found);
    close();
    say(_("Filled in: %s.").replace("%s", `${found.name}, ${described(found)}`));
  };

  const search = async (city) => {
    const [text, number] = [keyOf(city.value), (asked += 1)];
    const found = text.length < 2 ? [] : await find(input(city, "country").value, (key) => key.startsWith(text));
    if (number !== asked || document.activeElement !== city) return;
    const isExact = (each) => Number(each.key === text);
    offered = found.sort((one, other) => isExact(other) - isExact(one)).slice(0, SHOWN);
    current = city;
    list.replaceChildren(...offered.map((each, index) => {
      const option = Object.assign(document.createElement("li"), { id: `city-${index}` });
      option.setAttribute("role", "option");
      const where = Object.assign(document.createElement("span"), { textContent: described(each) });
      option.append(`${each.name} `, where);
      option.addEventListener("mousedown", (event) => { // before the input loses the focus
        event.preventDefault();
        choose(index);
      });
      return option;
    }));
    if (!offered.length) {
      close();
      say("");
      return;
    }
    list.hidden = false;
    city.setAttribute("aria-expanded", "true");
    place();
    activate(-1);
    const help = ngettext(
      "%s city. Choose with the arrow keys and Enter.", "%s cities. Choose with the arrow keys and Enter.", offered.length,
    );
    say(help.replace("%s", offered.length));
  };

  const prepare = (city) => {
    for (const [name, value] of [
      ["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"],
    ]) city.setAttribute(name, value);
    city.autocomplete = "off";
  };
  inputs().forEach(prepare);
  document.addEventListener("formset:added", () => inputs().forEach((city) => city.getAttribute("role") || prepare(city)));

  const cityOf = (target) => (/^places-\d+-locality$/.test(target.name || "") ? target : null);
  const rowCity = (target) => {
    const found = /^places-\d+-/.exec(target.name || "");
    return found && form.elements[`${found[0]}locality`];
  };

  group.addEventListener("focusin", ({ target }) => {
    const city = rowCity(target);
    const country = city && input(city, "country").value;
    if (city && aids.cities[country]) load(country); // to know its coordinates, and before the first key
  });
  group.addEventListener("focusout", ({ target }) => cityOf(target) && close());
  group.addEventListener("input", ({ target }) => cityOf(target) && search(target));
  group.addEventListener("change", ({ target }) => {
    const city = rowCity(target);
    if (city && /-(locality|country)$/.test(target.name)) clearIfMoved(city);
  });
  group.addEventListener("keydown", (event) => {
    const city = cityOf(event.target);
    if (!city) return;
    const last = offered.length - 1;
    if (list.hidden) {
      if (event.key === "ArrowDown") {
        event.preventDefault();
        search(city);
      }
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = active + (event.key === "ArrowDown" ? 1 : -1);
      activate(next > last ? 0 : next < 0 ? last : next);
    } else if (event.key === "Enter") {
      event.preventDefault(); // without a choice, the first one: the form is not finished
      choose(Math.max(active, 0));
    }
  });

  // --- the location as a place ---

  const location = document.getElementById("id_location");
  if (!location) return;
  const use = Object.assign(document.createElement("button"), { type: "button", hidden: true, className: "panel-button use-place" });
  location.after(use);
  let suggested = null;

  const suggest = async () => {
    const text = keyOf(location.value);
    const isUsed = () => inputs().some((city) => keyOf(city.value) === text);
    // of other countries than those in use, only a city whose name means no other one
    const isKnown = (key, index, city) => key === text && (aids.used.includes(city.country) || index < city.unique);
    const found = text && !isUsed() ? await find("", isKnown) : [];
    if (text !== keyOf(location.value)) return;
    [suggested] = found;
    use.hidden = !suggested || isUsed();
    if (suggested) use.textContent = _("Use as place: %s").replace("%s", `${suggested.name}, ${countryName(suggested.country)}`);
  };

  use.addEventListener("click", () => {
    let city = inputs().find((each) => !isFilled(each));
    if (!city) {
      group.querySelector(".add-row a, a.add-row")?.click();
      city = inputs().find((each) => !isFilled(each));
    }
    if (!city || !suggested) return; // there are as many as there can be
    fill(city, suggested);
    use.hidden = true;
    location.focus();
    say(_("Filled in: %s.").replace("%s", `${suggested.name}, ${described(suggested)}`));
  });
  location.addEventListener("change", suggest);
  new IntersectionObserver((entries, observer) => { // when the tab is opened: files of cities are large
    if (!entries.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    suggest();
  }, { rootMargin: "2000px" }).observe(location);
});
