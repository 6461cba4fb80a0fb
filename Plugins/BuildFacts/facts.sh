#!/bin/sh
# usage: facts.sh PACKAGE SWIFTC OUTPUT
# Writes the Swift file of the build's facts: the version of PACKAGE/VERSION, which is everyone's, and
# the commit. What is not known is "unknown": outside git the commit is SIGHTLINE_COMMIT's, as in an
# image's build, where the sources come without their history.
set -eu
package=$1 compiler=$2 output=$3

version=$(cat "$package/VERSION")
printf '%s' "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' || {
    echo "facts.sh: $package/VERSION says '$version': three numbers are wanted, such as 0.1.0" >&2
    exit 1
}
commit=unknown modified=nil
# A package that was unpacked within another repository has no .git of its own.
if [ -e "$package/.git" ] && head=$(git -C "$package" rev-parse --verify --quiet HEAD 2>/dev/null); then
    commit=$head
    if changes=$(git -C "$package" --no-optional-locks status --porcelain -- \
        Package.swift VERSION Plugins Sources 2>/dev/null); then
        modified=$([ -z "$changes" ] && echo false || echo true)
    fi
elif printf '%s' "${SIGHTLINE_COMMIT:-}" | grep -qxE '[0-9a-f]{40}([0-9a-f]{24})?'; then
    commit=$SIGHTLINE_COMMIT
fi
swift=$("$compiler" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9A-Za-z.+-]*\).*/\1/p' | head -n 1)

{
    printf '/// What the program was built from.\nenum BuildFacts {\n'
    printf '    static let version = "%s"\n' "$version"
    printf '    static let commit = "%s"\n' "$commit"
    printf '    static let isModified: Bool? = %s\n' "$modified"
    printf '    static let swift = "%s"\n}\n' "${swift:-unknown}"
} >"$output.new"
# The same file with a new time would be compiled and linked again.
if cmp -s "$output.new" "$output"; then rm "$output.new"; else mv "$output.new" "$output"; fi
