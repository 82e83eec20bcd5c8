/**
 * Validates submissions with the JSON Schema validators that sites use, and with our own form.js.
 *
 * Reads lines of {"schema", "submissions"} and writes a line of {"results", "errors", "named"} for each: by validator
 * name, whether each submission is valid; the errors that a validator reports about the schema; and of each submission
 * the fields that form.js reports. Formats are asserted by the validators that can ("... formats"), and by cfworker,
 * which always does.
 */

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

import { Validator } from "@cfworker/json-schema";
import * as hyperjump from "@hyperjump/json-schema/draft-2020-12";
import "@hyperjump/json-schema/formats";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

// As text: there is no package.json that tells Node that form.js is an ES module.
const source = await readFile(process.argv[2], "utf8");
const form = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const errors = [];
const log = (...words) => errors.push(words.join(" "));
const logger = { log, warn: log, error: log };

function withAjv(schema, options) {
  const ajv = new Ajv({ strict: true, logger, ...options });
  if (options.validateFormats) addFormats(ajv);
  return ajv.compile(schema);
}

async function withHyperjump(schema, areFormatsAsserted) {
  hyperjump.setShouldValidateFormat(areFormatsAsserted);
  hyperjump.registerSchema(schema);
  const validate = await hyperjump.validate(schema.$id);
  hyperjump.unregisterSchema(schema.$id);
  return (value) => validate(value).valid;
}

const VALIDATORS = {
  // Without ownProperties, ajv takes members that every object inherits ("constructor") for answers.
  "ajv ownProperties": (schema) => withAjv(schema, { validateFormats: false, ownProperties: true }),
  "ajv formats": (schema) => withAjv(schema, { validateFormats: true }),
  hyperjump: (schema) => withHyperjump(schema, false),
  "hyperjump formats": (schema) => withHyperjump(schema, true),
  cfworker: (schema) => {
    const validator = new Validator(schema, "2020-12", false);
    return (value) => validator.validate(value).valid;
  },
  "form.js": (schema) => (value) => form.validate(schema, value).length === 0,
};

/** Every pattern of the schema has to work in HTML's attribute `pattern`, which has the flag v, too. */
function compilePatterns(part) {
  for (const [key, value] of Object.entries(part)) {
    if (key === "pattern" && typeof value === "string") new RegExp(`^(?:${value})$`, "v");
    else if (value && typeof value === "object") compilePatterns(value);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { schema, submissions } = JSON.parse(line);
  const results = {};
  errors.length = 0;
  try {
    compilePatterns(schema);
  } catch (error) {
    log("pattern", error);
  }
  for (const [name, prepare] of Object.entries(VALIDATORS)) {
    try {
      const isValid = await prepare(structuredClone(schema));
      results[name] = submissions.map(isValid);
    } catch (error) {
      log(name, error);
    }
  }
  const named = submissions.map((value) => form.validate(schema, value).map(({ name }) => name));
  console.log(JSON.stringify({ results, errors, named }));
}
