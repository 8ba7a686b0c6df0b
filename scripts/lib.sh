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
    npm ci --no-audit --no-fund --loglevel=error
    touch node_modules/.package-lock.json
  fi
}

step() {
  echo "== $1"
  shift
  "$@"
}
