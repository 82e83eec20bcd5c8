/**
 * Validates a submission with the JSON Schema of a form. It imports nothing, so that it also runs in Node.
 */

/**
 * Validate `value` with `schema`. Return the errors: {name, keyword}, where `name` is the property. It supports the
 * keywords of JSON Schema 2020-12 that submission schemas use, with the results of a full validator.
 */
export function validate(schema, value) {
  return judged(schema, value, "").errors;
}

/** Return the errors of `value` and the properties that the schema evaluated (for `unevaluatedProperties`). */
function judged(schema, value, name) {
  const errors = [];
  const known = new Set();
  const fail = (keyword, at = name) => errors.push({ name: at, keyword });
  const apply = (part, to = value, at = name) => {
    const verdict = judged(part, to, at);
    errors.push(...verdict.errors);
    return verdict;
  };
  const join = (verdict) => verdict.known.forEach((key) => known.add(key));
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

  if (schema.type && schema.type !== kind) fail("type");
  if (Object.hasOwn(schema, "const") && schema.const !== value) fail("const");
  if (schema.enum && !schema.enum.includes(value)) fail("enum");
  if (schema.oneOf && schema.oneOf.filter((part) => !validate(part, value).length).length !== 1) fail("oneOf");
  if (kind === "string") {
    if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) fail("pattern");
    if ([...value].length < schema.minLength) fail("minLength");
    if ([...value].length > schema.maxLength) errors.push({ name, keyword: "maxLength", limit: schema.maxLength });
  }
  if (kind === "array") {
    if (value.length < schema.minItems) fail("minItems");
    if (schema.uniqueItems && new Set(value).size < value.length) fail("uniqueItems"); // items are strings
    if (schema.items) value.forEach((item) => apply(schema.items, item));
    if (schema.contains && !value.some((item) => !validate(schema.contains, item).length)) fail("contains");
  }
  if (kind === "object") {
    const has = (key) => Object.hasOwn(value, key);
    for (const [key, part] of Object.entries(schema.properties ?? {}).filter(([key]) => has(key))) {
      apply(part, value[key], key);
      known.add(key);
    }
    for (const key of schema.required ?? []) if (!has(key)) fail("required", key);
    for (const [key, others] of Object.entries(schema.dependentRequired ?? {})) {
      if (has(key)) others.filter((other) => !has(other)).forEach((other) => fail("dependentRequired", other));
    }
  }
  for (const part of schema.allOf ?? []) join(apply(part));
  if (schema.if) {
    const condition = judged(schema.if, value, name);
    if (!condition.errors.length) {
      join(condition);
      join(apply(schema.then ?? {}));
    }
  }
  if (schema.unevaluatedProperties === false && kind === "object") {
    Object.keys(value).filter((key) => !known.has(key)).forEach((key) => fail("unevaluatedProperties", key));
  }
  return { errors, known };
}
