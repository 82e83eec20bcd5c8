#!/bin/sh
# Copy the archives in the folder $1 that the folder $2 lacks, encrypted for the public key of age $3, and the record
# of erasures. Whoever reads $2 needs the secret key (docs/operations/backup.md).
set -eu
for archive in "$1"/jobsite-*.tar; do
  copy="$2/$(basename "$archive").age"
  [ -e "$archive" ] && [ ! -e "$copy" ] || continue
  age --encrypt --recipient "$3" --output "$copy.part" "$archive"
  mv "$copy.part" "$copy"
done
[ ! -e "$1/erased" ] || cp "$1/erased" "$2/erased"
