# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# otlp_sums.awk - of an OTLP request as protoc prints it: a line for each profile, its type and the sum of its values
/^    profiles \{/ { profile++ }
/^        type_strindex:/ && !(profile in type) { type[profile] = $2 }
/^        values:/ { sum[profile] += $2 }
/^  string_table:/ { gsub(/"/, "", $2); text[strings++] = $2 }
END { for (i = 1; i <= profile; i++) print text[type[i]], sum[i] + 0 }
