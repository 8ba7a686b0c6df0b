# Shared by the scripts beside it; sourced, not run.

require_node() {
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null || {
    echo "Node.js 20.19 or newer is needed; found $(node --version 2>/dev/null || echo none)" >&2
    exit 1
  }
}

# Installs what package-lock.json names, unless that has been done since it last changed.
install_packages() {
  if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    echo "== install"
    npm ci --no-audit --no-fund --no-update-notifier --loglevel=error
    touch node_modules/.package-lock.json
  fi
}

step() {
  echo "== $1"
  shift
  "$@"
}

# install_debian PACKAGE COMMAND…: installs a Debian package, unless one of its commands is on the path already. Where that
# cannot be done it says what to install, and fails.
install_debian() {
  local package=$1 command
  shift
  for command in "$@"; do
    if command -v "$command" >/dev/null 2>&1; then return 0; fi
  done
  local as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
  if command -v apt-get >/dev/null 2>&1; then
    echo "== install $package"
    if "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1; then return 0; fi
    if "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null; then
      return 0
    fi
  fi
  echo "$1 is not on the path, and the package $package could not be installed: install it, then run this again" >&2
  return 1
}

# The browser of the tests, unless CHROMIUM names another one, and the shells of the completion.
install_test_programs() {
  if [ -z "${CHROMIUM:-}" ]; then install_debian chromium chromium; fi
  install_debian zsh zsh
  install_debian fish fish
}

# Builds the two Go programs of the tests in the background, where they are not built yet, while packages are installed and
# the code is checked: the tests then find them in Go's cache. What fails here fails there again, with its reason.
begin_go_builds() {
  if ! command -v go >/dev/null 2>&1; then return 0; fi
  local version
  version=$(sed -n "s/^const PINNED = '\(.*\)';$/\1/p" src/nats/server/server-version.ts)
  go_builds=$(mktemp -d)
  (
    export CGO_ENABLED=0 GOBIN=$go_builds
    cd scripts/natscli
    go install "github.com/nats-io/nats-server/v2@v$version" || true
    go install github.com/nats-io/natscli/nats || true
  ) >/dev/null 2>&1 &
  go_builder=$!
  trap end_go_builds EXIT
}

end_go_builds() {
  if [ -z "${go_builder:-}" ]; then return 0; fi
  step "wait for Go" wait "$go_builder"
  rm -rf "$go_builds"
}
