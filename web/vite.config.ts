import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The files have fixed names and no source maps: the same sources give the same bytes, which a test compares.
export default defineConfig({
  base: "./",
  resolve: { alias: { engrain: here("../clients/typescript/src/index.ts") } },
  build: {
    outDir: process.env.PAGE_OUT ?? here("build"),
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "page/page.js",
        chunkFileNames: "page/[name].js",
        assetFileNames: "page/page.[ext]",
      },
    },
  },
});
