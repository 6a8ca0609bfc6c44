// SPDX-License-Identifier: Apache-2.0
Page.start();
