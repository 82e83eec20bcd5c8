/**
 * Reads lines of job postings in JSON-LD, and writes the errors that @adobe/structured-data-validator finds in each as a
 * line of JSON. Of several places it sees none, so each posting has one at most.
 */

import { createInterface } from "node:readline";

import Validator from "@adobe/structured-data-validator";

const validator = new Validator();
for await (const line of createInterface({ input: process.stdin })) {
  const issues = await validator.validate({ jsonld: { JobPosting: [JSON.parse(line)] } });
  const errors = issues.filter((issue) => issue.severity === "ERROR").map((issue) => issue.issueMessage);
  process.stdout.write(`${JSON.stringify(errors)}\n`);
}
