-- Where all pairs are compared, nothing is a template.
create table templates (run ubigint);

create table template_forms (form_no bigint);
