FROM node:20-slim AS build
WORKDIR /app
# The dependencies change less often than the sources: a layer of their own. None of them needs an install script.
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.mjs scripts/clean.mjs scripts/completion.mjs scripts/executable.mjs scripts/licences.mjs scripts/page.mjs scripts/prune-types.mjs scripts/
COPY scripts/words/LICENSE.txt scripts/words/word-vectors.bin scripts/words/
COPY src/ src/
# Declarations are for development: what runs needs none.
RUN npm run build && find dist -name '*.d.ts' -delete && npm prune --omit=dev --ignore-scripts

FROM node:20-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules/ node_modules/
COPY --from=build /app/dist/ dist/
RUN ln -s /app/dist/cli/bin.cjs /usr/local/bin/throughline
USER node
CMD ["throughline", "admin", "serve"]
