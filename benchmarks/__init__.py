"""Side-by-side measurements; figures are ratios within one run, never absolute promises."""
