# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# first_profile.awk - of OTLP requests as protoc prints them: the sum of the values of the first profile of each resource
/^    profiles \{/ { profile++ }
/^  scope_profiles/ { profile = 0 }
/^        values:/ && profile == 1 { sum += $2 }
END { print sum }
