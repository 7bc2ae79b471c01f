select scheme from bi.schemes
where kind = 'single_label' and target = 'turn' and unit_count > 0
order by scheme
