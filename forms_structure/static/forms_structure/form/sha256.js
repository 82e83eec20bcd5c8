/** SHA-256 (FIPS 180-4), and the search for the solution of a challenge. crypto.subtle is asynchronous, which makes
 *  many short digests fifty times slower, and it is missing on pages without https. */

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n += 1) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);
/** The first 32 bits of the fractional part of `number`. */
const fraction = (number) => Math.floor((number % 1) * 2 ** 32);
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const words = new Int32Array(64);
const encoder = new TextEncoder();

/** Return the digest of `bytes` as eight numbers of 32 bits. */
export function digest(bytes) {
  const padded = new DataView(new ArrayBuffer(((bytes.length + 8) >> 6) * 64 + 64));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const state = START.slice();
  for (let block = 0; block < padded.byteLength; block += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = padded.getInt32(block + i * 4);
    mix(state);
  }
  return state;
}

const turn = (word, bits) => (word >>> bits) | (word << (32 - bits));

/** Add the block in `words` to `state`. Plain variables, because destructuring would make it five times slower. */
function mix(state) {
  for (let i = 16; i < 64; i += 1) {
    const early = words[i - 15];
    const late = words[i - 2];
    words[i] = words[i - 16] + (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + words[i - 7]
      + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
  }
  let a = state[0]; let b = state[1]; let c = state[2]; let d = state[3];
  let e = state[4]; let f = state[5]; let g = state[6]; let h = state[7];
  for (let i = 0; i < 64; i += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + one) | 0;
    d = c; c = b; b = a; a = (one + two) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

/** Return the number from `from` to `to` whose digest with `salt` before it is `wanted` (hexadecimal); -1 if none. */
export function search(salt, wanted, from, to) {
  const words = Array.from({ length: 8 }, (_, i) => Number.parseInt(wanted.slice(i * 8, i * 8 + 8), 16) | 0);
  for (let number = from; number <= to; number += 1) {
    const found = digest(encoder.encode(salt + number));
    if (found[0] === words[0] && found.every((word, i) => word === words[i])) return number;
  }
  return -1;
}
