FROM node:20-slim AS build
WORKDIR /app
# The dependencies change less often than the sources: a layer of their own.
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/clean.mjs scripts/
COPY src/ src/
RUN npm run build && npm prune --omit=dev

FROM node:20-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules/ node_modules/
COPY --from=build /app/dist/ dist/
USER node
CMD ["node", "dist/cli/bin.js", "serve"]
